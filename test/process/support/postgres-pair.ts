/** A primary and its synchronous standby: two real servers, and a database that is on both. */
import pg from 'pg';
import { vi } from 'vitest';
import { createDatabase, type Postgres, startPostgres } from '../../support/postgres.ts';

export interface Pair {
  readonly primary: Postgres;
  readonly standby: Postgres;
  /** The URL with both hosts, as docs/reliability.md spells it. */
  readonly url: string;
  /** The same with one host. */
  urlOn(server: Postgres): string;
  /** Promotes the standby; resolves when it accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const primary = await startPostgres();
  const database = new URL(await createDatabase(primary.url, 'sandbank')).pathname;
  await primary.stopServer();
  const standby = await startPostgres({ standbyOf: primary });
  await primary.startServer();
  await queryOnce(primary, "alter system set synchronous_standby_names = 'standby'");
  await queryOnce(primary, 'select pg_reload_conf()');
  await synchronous(primary);
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    primary,
    standby,
    url: `postgres://postgres@${hosts}${database}?target_session_attrs=read-write`,
    urlOn: ({ port }) => `postgres://postgres@127.0.0.1:${port}${database}`,
    promote: async () => {
      await queryOnce(standby, 'select pg_promote()');
    },
    stop: async () => {
      await standby.stop();
      await primary.stop();
    },
  };
}

/** Resolves when every commit waits for the standby. */
export async function synchronous(primary: Postgres): Promise<void> {
  await vi.waitUntil(
    async () => {
      const rows = await queryOnce(primary, 'select sync_state from pg_stat_replication');
      return rows.some(({ sync_state: state }) => state === 'sync');
    },
    { interval: 50 },
  );
}

export async function queryOnce(
  { url }: Pick<Postgres, 'url'>,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
