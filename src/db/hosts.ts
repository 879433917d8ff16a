import pg from 'pg';
import { readDatabaseUrl } from './database-url.ts';

const lookMsMax = 1_000;
// Who answers a little later may be the one that was promoted last.
const graceMs = 200;
// While none takes writes every request that fails would look anew.
const pauseMs = 200;

/** A standby, or a server that was told to take no writes. */
export class TakesNoWrites extends Error {
  override readonly name = 'TakesNoWrites';

  constructor() {
    super('this host takes no writes');
  }
}

interface Found {
  readonly url: string;
  /** It grows with every promotion; 0 where it cannot be known. */
  readonly timeline: number;
}

/**
 * The hosts of a database, of which one takes writes. At first and whenever something fails all are asked at once, and
 * the one that takes writes is used from there on. If two say so, the one that was promoted later does: the other is a primary that
 * does not know yet that it was replaced. A host of an earlier promotion than one that was seen before is not gone back to.
 */
export class Hosts {
  readonly mustTakeWrites: boolean;
  readonly #urls: readonly string[];
  #current: string;
  #timeline = 0;
  #looking: Promise<boolean> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #hasLooked = false;

  constructor(databaseUrl: string) {
    const read = readDatabaseUrl(databaseUrl);
    if ('problem' in read) throw new Error(read.problem);
    this.#urls = read.urls;
    this.#current = read.urls[0] ?? '';
    this.mustTakeWrites = read.mustTakeWrites;
  }

  /** The URL of the host that is used now. */
  get current(): string {
    return this.#current;
  }

  /** Looks for the host that takes writes, and says whether one was found. With one host there is nothing to look for. */
  look(): Promise<boolean> {
    if (this.#urls.length === 1 || performance.now() - this.#failedAt < pauseMs)
      return this.#looking ?? Promise.resolve(false);
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when nobody is looking: a connection that is made before would be one to where it failed. */
  async settled(): Promise<void> {
    await (this.#hasLooked ? this.#looking : this.look());
  }

  async #lookAtAll(): Promise<boolean> {
    this.#hasLooked = true;
    const found: Found[] = [];
    const timers: NodeJS.Timeout[] = [];
    await new Promise<void>((resolve) => {
      timers.push(setTimeout(resolve, lookMsMax));
      const asked = this.#urls.map(async (url) => {
        const timeline = await timelineOf(url);
        if (timeline === undefined || timeline < this.#timeline) return;
        found.push({ url, timeline });
        timers.push(setTimeout(resolve, graceMs));
      });
      void Promise.all(asked).then(() => resolve());
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

  #isCurrent({ url }: Found): number {
    return url === this.#current ? 1 : 0;
  }
}

/** The promotions that a host has behind it; undefined when it takes no writes, or does not answer in time. */
async function timelineOf(url: string): Promise<number | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sandbank looks for the primary',
    connectionTimeoutMillis: lookMsMax,
    query_timeout: lookMsMax,
  });
  // What goes wrong is told where it is awaited.
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
