import pg from 'pg';
import { readDatabaseUrl } from './database-url.ts';

const probeMsMax = 1_000;
// A host that answers a little later may be the one that was promoted last.
const graceMs = 200;
// Without a pause every failed request would probe again while no host accepts writes.
const pauseMs = 200;

/** A standby, or a server in read-only mode. */
export class TakesNoWrites extends Error {
  override readonly name = 'TakesNoWrites';

  constructor() {
    super('this host does not accept writes');
  }
}

interface WritableHost {
  readonly url: string;
  /** Grows with every promotion; 0 where it is unknown. */
  readonly timeline: number;
}

/**
 * The hosts of a database, of which one accepts writes. At the start and after each failure this class probes all hosts
 * concurrently and uses the one that accepts writes. If two do, it uses the one that was promoted later: the other is an old
 * primary that does not know yet that it was replaced. It never returns to a host with an earlier timeline than one it has seen.
 */
export class Hosts {
  readonly requiresWrites: boolean;
  readonly #urls: readonly string[];
  #current: string;
  #timeline = 0;
  #probing: Promise<boolean> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #hasProbed = false;

  constructor(databaseUrl: string) {
    const read = readDatabaseUrl(databaseUrl);
    if ('problem' in read) throw new Error(read.problem);
    this.#urls = read.urls;
    this.#current = read.urls[0] ?? '';
    this.requiresWrites = read.requiresWrites;
  }

  /** The URL of the current host. */
  get current(): string {
    return this.#current;
  }

  /** Searches for the host that accepts writes and returns whether it found one. With a single host it does nothing. */
  findPrimary(): Promise<boolean> {
    if (this.#urls.length === 1 || performance.now() - this.#failedAt < pauseMs)
      return this.#probing ?? Promise.resolve(false);
    this.#probing ??= this.#probeAll().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /** Resolves when no search is running: a connection opened before that would lead to the failed host. */
  async settled(): Promise<void> {
    await (this.#hasProbed ? this.#probing : this.findPrimary());
  }

  async #probeAll(): Promise<boolean> {
    this.#hasProbed = true;
    const found: WritableHost[] = [];
    const timers: NodeJS.Timeout[] = [];
    await new Promise<void>((resolve) => {
      timers.push(setTimeout(resolve, probeMsMax));
      const probes = this.#urls.map(async (url) => {
        const timeline = await timelineOf(url);
        if (timeline === undefined || timeline < this.#timeline) return;
        found.push({ url, timeline });
        timers.push(setTimeout(resolve, graceMs));
      });
      void Promise.all(probes).then(() => resolve());
    });
    for (const timer of timers) clearTimeout(timer);
    const [best] = found.sort((a, b) => b.timeline - a.timeline || this.#isCurrent(b) - this.#isCurrent(a));
    if (best === undefined) {
      this.#failedAt = performance.now();
      return false;
    }
    this.#current = best.url;
    this.#timeline = best.timeline;
    return true;
  }

  #isCurrent({ url }: WritableHost): number {
    return url === this.#current ? 1 : 0;
  }
}

/** The timeline of a host; undefined when it does not accept writes, or does not answer in time. */
async function timelineOf(url: string): Promise<number | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sandbank primary search',
    connectionTimeoutMillis: probeMsMax,
    query_timeout: probeMsMax,
  });
  // The awaited calls report the errors.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    if (rows[0]?.transaction_read_only !== 'off') return undefined;
    const walFile = await client
      .query<{ name: string }>('select pg_walfile_name(pg_current_wal_lsn()) as name')
      .catch(() => undefined);
    return Number.parseInt(walFile?.rows[0]?.name.slice(0, 8) ?? '0', 16);
  } catch {
    return undefined;
  } finally {
    client.end().catch(() => undefined);
  }
}
