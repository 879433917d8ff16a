import { setFlagsFromString } from 'node:v8';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';

/**
 * V8 compiles a PGlite function with its optimizing compiler after the function has executed about this many bytes of WebAssembly. Many
 * functions reach the default of Node 20 (1.8 million) while the database opens: compiling them cost 0.5 s of processor time and 30 MB at
 * every start. With 20 million, 4,000 creates cost 4.1 s of processor time instead of 5.4 s, and the last 2,000 of them the same 0.97 s in
 * this thread. With 50 million those cost 1.03 s.
 */
setFlagsFromString('--wasm-tiering-budget=20000000');

/**
 * These take precedence over `postgresql.conf`, so they apply to existing data directories too. PGlite fills shared memory with zeros, so
 * all of it is resident from the start: 128 MB of buffers, PostgreSQL's default, cost 110 MB more than 32 MB and 80 ms at every start. A page that
 * is not in a buffer costs 15 µs. 64 MB hold the rows and the index of 100,000 payments, for random reads.
 *
 * These have no measurable effect (4,000 replayed creates, processor time of the thread within 3 %) and keep their defaults: `wal_level`,
 * `full_page_writes`, `wal_buffers`, `wal_init_zero`, `synchronous_commit`, `track_counts`, `track_activities`.
 */
const settings: Readonly<Record<string, string>> = {
  shared_buffers: '64MB',
  // There is one session. The slots of others cost 20 ms and some 5 MB at every start.
  max_connections: '5',
  max_wal_senders: '0',
  autovacuum_worker_slots: '1',
  io_max_concurrency: '1',
};

/**
 * PGlite as an executor of protocol messages. PGlite would read all array types from the catalog for its own parser, which costs 0.3 s
 * at every start. The parser is not used: `pg` reads the answers.
 */
class ProtocolOnly extends PGlite {
  override _initArrayTypes(): Promise<void> {
    return Promise.resolve();
  }
}

export async function openEngine(options: PGliteOptions): Promise<PGlite> {
  const startParams = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const database = new ProtocolOnly({
    ...options,
    startParams: [...PGlite.defaultStartParams, ...startParams],
  });
  await database.waitReady;
  return database;
}
