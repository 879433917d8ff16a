import type { Database } from '../db/database.ts';
import { idTimestamp } from '../kernel/ids.ts';
import type { Statement } from '../kernel/table.ts';

/** Pending work in the database for the workers of all nodes. */
export interface Backlog {
  readonly version: string;
  readonly migration: number;
  readonly deliveriesDue: number;
  readonly deliveryAge: number;
  readonly timersDue: number;
  readonly timerAge: number;
  readonly unsealed: number;
  readonly sealAge: number;
}

const msMax = 2_000;
const cacheMs = 5_000;
const queuesMax = 2_000;
const rowsMax = 10_000;

const about: Statement = {
  name: 'backlog_about',
  text: `select current_setting('server_version') as version, (select max(m.version) from schema_migrations m) as migration`,
  msMax,
};

const clockOf = (alias: string) => `select
      coalesce(c.stands_at, $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 millisecond') as now, c.advance
    from (select 1) one left join lateral (select * from clocks c
      where c.org_id = ${alias}.org_id and c.id = 'clk' || substr(${alias}.app_id, 4) offset 0) c on true`;

/**
 * Each of these skips from endpoint to endpoint, or from application to application, with the index that its worker uses, and
 * reads at most `rowsMax` rows: about 10 µs for each pending row, whether the table has a thousand rows or many millions.
 * New deliveries have no due time; they are due from their creation.
 */
const deliveries: Statement = {
  name: 'backlog_deliveries',
  text: `with recursive waiting(org_id, webhook_id, app_id, n) as (
      (select d.org_id, d.webhook_id, d.app_id, 1 from deliveries d
        where d.status = 'pending' order by d.org_id, d.webhook_id, d.due_at limit 1)
      union all
      select s.org_id, s.webhook_id, s.app_id, w.n + 1 from waiting w cross join lateral (
        select d.org_id, d.webhook_id, d.app_id from deliveries d
        where d.status = 'pending' and (d.org_id, d.webhook_id) > (w.org_id, w.webhook_id)
        order by d.org_id, d.webhook_id, d.due_at limit 1) s
      where w.n < ${queuesMax})
    select count(*)::integer as count, coalesce(extract(epoch from max(f.age)), 0)::double precision as age from (
      select c.now - greatest(d.due_at, d.created_at) as age from waiting w
      cross join lateral (${clockOf('w')}) c
      cross join lateral (select 1 from webhooks e where e.org_id = w.org_id and e.id = w.webhook_id
        and e.status = 'enabled' offset 0) e
      cross join lateral (select d.due_at, d.created_at from deliveries d
        where d.org_id = w.org_id and d.webhook_id = w.webhook_id and d.status = 'pending' and d.due_at <= c.now
          and (d.lease_until is null or d.lease_until <= $1)
        order by d.due_at, d.id limit ${rowsMax}) d
      limit ${rowsMax}) f`,
  msMax,
};

const timers: Statement = {
  name: 'backlog_timers',
  text: `with recursive waiting(org_id, app_id, n) as (
      (select t.org_id, t.app_id, 1 from timers t order by t.org_id, t.app_id, t.due_at limit 1)
      union all
      select s.org_id, s.app_id, w.n + 1 from waiting w cross join lateral (
        select t.org_id, t.app_id from timers t where (t.org_id, t.app_id) > (w.org_id, w.app_id)
        order by t.org_id, t.app_id, t.due_at limit 1) s
      where w.n < ${queuesMax})
    select count(*)::integer as count, coalesce(extract(epoch from max(f.age)), 0)::double precision as age from (
      select c.now - t.due_at as age from waiting w
      cross join lateral (${clockOf('w')}) c
      cross join lateral (select t.due_at from timers t
        where t.org_id = w.org_id and t.app_id = w.app_id and t.due_at <= c.now and c.advance is null
        order by t.due_at, t.id limit ${rowsMax}) t
      limit ${rowsMax}) f`,
  msMax,
};

/** Only the newest organizations: a test server accumulates thousands of inactive ones. */
const unsealed: Statement = {
  name: 'backlog_unsealed',
  text: `select count(*)::integer as count, min(f.id) as first from (
      select a.id from (select o.org_id from organizations o order by o.org_id desc limit ${queuesMax}) o
      cross join lateral (select coalesce((select s.last_id from audit_seals s where s.org_id = o.org_id
        order by s.org_id desc, s.last_id desc limit 1), '') as id offset 0) r
      cross join lateral (select a.id from audit a where a.org_id = o.org_id and a.id > r.id
        order by a.org_id, a.id limit ${rowsMax}) a
      limit ${rowsMax}) f`,
  msMax,
};

/** Caches the result for `cacheMs`, so that the gauges of one scrape, and concurrent scrapes, share one set of queries. */
export class Backlogs {
  readonly #database: Database;
  readonly #wallClock: () => number;
  #cached: Promise<Backlog | undefined> | undefined;
  #cachedUntil = 0;

  constructor(database: Database, wallClock: () => number) {
    this.#database = database;
    this.#wallClock = wallClock;
  }

  get kind(): Database['kind'] {
    return this.#database.kind;
  }

  /** Undefined when the database does not answer in time. */
  read(): Promise<Backlog | undefined> {
    if (this.#cached && performance.now() < this.#cachedUntil) return this.#cached;
    this.#cachedUntil = performance.now() + cacheMs;
    this.#cached = this.#queryWithTimeout();
    return this.#cached;
  }

  async #queryWithTimeout(): Promise<Backlog | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, msMax, undefined);
    });
    try {
      return await Promise.race([this.#query().catch(() => undefined), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #query(): Promise<Backlog> {
    const now = this.#wallClock();
    const at = [new Date(now).toISOString()];
    // Sequential, so that monitoring occupies at most one connection of the pool.
    const database = this.#database;
    const [known] = await database.query<{ version: string; migration: number }>(about, []);
    const [due] = await database.query<{ count: number; age: number }>(deliveries, at);
    const [fired] = await database.query<{ count: number; age: number }>(timers, at);
    const [sealed] = await database.query<{ count: number; first: string | null }>(unsealed, []);
    const first = sealed?.first ?? null;
    return {
      version: known?.version.split(' ')[0] ?? 'unknown',
      migration: known?.migration ?? 0,
      deliveriesDue: due?.count ?? 0,
      deliveryAge: Math.max(0, due?.age ?? 0),
      timersDue: fired?.count ?? 0,
      timerAge: Math.max(0, fired?.age ?? 0),
      unsealed: sealed?.count ?? 0,
      sealAge: first === null ? 0 : Math.max(0, now - idTimestamp(first)) / 1_000,
    };
  }
}
