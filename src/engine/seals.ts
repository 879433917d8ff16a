import type { Database } from '../db/database.ts';
import type { Instant, Statement } from '../kernel/table.ts';

/** The result of one statement: the number of unsealed rows found, and whether it created a seal for them. */
export interface Sealed {
  readonly found: number;
  /** False when there were no rows, or when another node created the seal with that number first. */
  readonly isCreated: boolean;
}

export interface SealedPage extends Sealed {
  /** The id of the last row on the page; null when the page is empty. */
  readonly reached: string | null;
  readonly scanned: number;
}

/** The newest row of an organization's audit trail, and the last sealed one. */
export interface TrailEnd {
  readonly orgId: string;
  readonly newest: string | null;
  readonly reached: string | null;
}

export const rowsInSealMax = 1_000;
export const rowsInPageMax = 20_000;

const zeros = `decode(repeat('00', 32), 'hex')`;

/**
 * Creates the seal of the rows in `next`, after the last seal that the same statement sees. If two nodes seal concurrently, the
 * primary key accepts one; the other has sealed nothing, and tries again.
 */
const sealing = (orgId: string, sealedAt: string) => `head as materialized (
      select s.number, s.hash from audit_seals s where s.org_id = ${orgId} order by s.org_id desc, s.number desc limit 1),
    created as (
      insert into audit_seals (org_id, number, audit_ids, first_id, last_id, previous, hash, sealed_at)
      select ${orgId}, coalesce(h.number, 0) + 1, array_agg(n.id order by n.id), min(n.id), max(n.id), coalesce(h.hash, ${zeros}),
        sha256(coalesce(h.hash, ${zeros}) || string_agg(n.digest, ''::bytea order by n.id)), ${sealedAt}
      from next n left join head h on true group by h.number, h.hash
      on conflict do nothing returning number)`;

/** No row after the last sealed id is sealed yet, so these rows are found without reading the seals. */
const sealNext: Statement = {
  name: 'audit_seal_next',
  text: `with next as materialized (
      select a.id, audit_digest(a) as digest from audit a
      where a.org_id = $1 and a.id <= $2
        and a.id > coalesce((select max(s.last_id) from audit_seals s where s.org_id = $1), '')
      order by a.org_id, a.id limit ${rowsInSealMax}),
    ${sealing('$1', '$3::timestamptz')}
    select (select count(*) from next)::integer as found, exists (select from created) as "isCreated"`,
};

/** Rows that became visible after later ones were sealed: compares all rows of a page with the seals that may contain them. */
const sealMissed: Statement = {
  name: 'audit_seal_missed',
  text: `with page as materialized (
      select a.id from audit a where a.org_id = $1 and a.id > $2 and a.id <= $3
      order by a.org_id, a.id limit ${rowsInPageMax}),
    bounds as materialized (select min(p.id) as first, max(p.id) as last, count(*)::integer as scanned from page p),
    missed as materialized (
      select m.id from (
        select p.id from page p
        except select k.id from bounds b
        cross join lateral (select s.audit_ids from audit_seals s
          where s.org_id = $1 and s.last_id >= b.first and s.first_id <= b.last offset 0) s
        cross join lateral unnest(s.audit_ids) as k(id)) m
      order by m.id limit ${rowsInSealMax}),
    next as materialized (
      select a.id, a.digest from missed m cross join lateral (
        select a.id, audit_digest(a) as digest from audit a where a.org_id = $1 and a.id = m.id offset 0) a),
    ${sealing('$1', '$4::timestamptz')}
    select b.last as reached, b.scanned, (select count(*) from next)::integer as found, exists (select from created) as "isCreated"
    from bounds b`,
};

const trailEnds: Statement = {
  name: 'audit_trail_ends',
  text: `select o.org_id as "orgId", n.id as newest, r.last_id as reached
    from (select o.org_id from (
        (select o.org_id from organizations o where o.org_id > $1 order by o.org_id limit $2)
        union (select d.org_id from deleted_organizations d where d.org_id > $1 order by d.org_id limit $2)) o
      order by o.org_id limit $2) o
    left join lateral (select a.id from audit a where a.org_id = o.org_id order by a.org_id desc, a.id desc limit 1) n on true
    left join lateral (select s.last_id from audit_seals s where s.org_id = o.org_id
      order by s.org_id desc, s.last_id desc limit 1) r on true
    order by o.org_id`,
};

/** Writes the seals of the audit trail. It belongs to the engine, the only writer, although no command is involved. */
export class Seals {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Seals the rows after the last sealed one, up to an id. */
  async next(orgId: string, upTo: string, now: Instant): Promise<Sealed> {
    const [sealed] = await this.#database.query<Sealed>(sealNext, [orgId, upTo, new Date(now).toISOString()]);
    return sealed ?? { found: 0, isCreated: false };
  }

  /** Scans one page of rows after an id, and seals those that no seal contains. */
  async missed(orgId: string, after: string, upTo: string, now: Instant): Promise<SealedPage> {
    const values = [orgId, after, upTo, new Date(now).toISOString()];
    const [page] = await this.#database.query<SealedPage>(sealMissed, values);
    return page ?? { found: 0, isCreated: false, reached: null, scanned: 0 };
  }

  /** One page of organizations, ordered by id. */
  ends(after: string, limit: number): Promise<readonly TrailEnd[]> {
    return this.#database.query<TrailEnd>(trailEnds, [after, limit]);
  }
}
