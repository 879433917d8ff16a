import { firstIdAt, idTimestamp } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';
import { hourMs, minuteMs } from '../../kernel/time.ts';

type Rows = Pick<Reader, 'rows'>;

export interface SealProblem {
  /** The number of the affected seal; null for rows that no seal names. */
  readonly seal: number | null;
  readonly message: string;
}

export interface SealVerification {
  readonly seals: number;
  readonly sealedRows: number;
  readonly unsealedRows: number;
  /** The hash of the last seal. An operator who saved it elsewhere can detect a rebuilt chain. */
  readonly head: string | null;
  /** The number of the last seal. */
  readonly last: number | null;
  /** At most `problemsMax` entries. */
  readonly problems: readonly SealProblem[];
  /** Whether the whole trail was verified, not only its newest part. */
  readonly isWhole: boolean;
}

const problemsMax = 20;
const sealsMax = 10_000;
const sealsInPageMax = 1_000;
// Occupies an embedded database for about a tenth of a second.
const rowsInPage = 5_000;
// A row that is older and still unsealed was not written by a server, or no server was running to seal it.
const unsealedMsMax = hourMs;
// A row may be sealed after newer rows. The difference is a few seconds plus the clock skew between nodes.
const disorderMsMax = 10 * minuteMs;
const zeros = '00'.repeat(32);

interface SealRow {
  readonly number: bigint;
  readonly firstId: string;
  readonly lastId: string;
  readonly previous: string;
  readonly hash: string;
  readonly sealedAt: Instant;
  readonly named: number;
  readonly found: number;
  readonly isIntact: boolean;
}

/** Seals before a number, newest first, each compared with the current content of its rows. */
const sealsBefore: Statement = {
  name: 'audit_seals_before',
  text: `select s.number, s.first_id as "firstId", s.last_id as "lastId", encode(s.previous, 'hex') as previous,
      encode(s.hash, 'hex') as hash, s.sealed_at as "sealedAt", cardinality(s.audit_ids) as named, r.found,
      sha256(s.previous || coalesce(r.digests, ''::bytea)) = s.hash and r.ids = s.audit_ids
        and s.first_id = s.audit_ids[1] and s.last_id = s.audit_ids[cardinality(s.audit_ids)] as "isIntact"
    from (select s.* from audit_seals s where s.org_id = $1 and s.number < $2
      order by s.org_id desc, s.number desc limit $3) s
    cross join lateral (
      select count(*)::integer as found, string_agg(a.digest, ''::bytea order by a.id) as digests,
        array_agg(a.id order by a.id) as ids
      from unnest(s.audit_ids) as k(id)
      cross join lateral (select a.id, audit_digest(a) as digest from audit a
        where a.org_id = $1 and a.id = k.id offset 0) a) r
    order by s.number desc`,
};

const missingRows: Statement = {
  name: 'audit_seal_gone_rows',
  text: `select k.id from audit_seals s cross join lateral unnest(s.audit_ids) as k(id)
    where s.org_id = $1 and s.number = $2 and (select a.id from audit a where a.org_id = $1 and a.id = k.id) is null
    order by k.id limit ${problemsMax}`,
};

interface UnsealedPage {
  readonly scanned: number;
  readonly reached: string | null;
  readonly unsealed: number;
  readonly old: readonly string[];
  readonly malformed: readonly string[];
  readonly oldCount: number;
}

/** Rows before an id, newest first: the number of unsealed rows, and the unsealed rows before another id. */
const unsealedBefore: Statement = {
  name: 'audit_unsealed_before',
  text: `with page as materialized (
      select a.id from audit a where a.org_id = $1 and a.id < $2 order by a.org_id desc, a.id desc limit $3),
    bounds as materialized (select min(p.id) as first, max(p.id) as last, count(*)::integer as scanned from page p),
    missed as materialized (
      select p.id from page p
      except select k.id from bounds b
      cross join lateral (select s.audit_ids from audit_seals s
        where s.org_id = $1 and s.last_id >= b.first and s.first_id <= b.last offset 0) s
      cross join lateral unnest(s.audit_ids) as k(id))
    select b.scanned, b.first as reached, (select count(*) from missed)::integer as unsealed,
      array(select m.id from missed m where m.id < $4 order by m.id limit ${problemsMax}) as old,
      (select count(*) from missed m where m.id < $4)::integer as "oldCount",
      array(select p.id from page p where p.id !~ '^aud_[0-9a-z]{26}$' order by p.id limit ${problemsMax}) as malformed
    from bounds b`,
};

/** The newest row, and the newest sealed row. */
const ends: Statement = {
  name: 'audit_verified_ends',
  text: `select (select a.id from audit a where a.org_id = $1 and a.id < 'aud_~' order by a.org_id desc, a.id desc limit 1) as newest,
      (select max(s.last_id) from audit_seals s where s.org_id = $1) as reached`,
};

/** Greater than every id, including ids that no server generates, and greater than every seal number. */
const endId = '\u{10ffff}';
const endNumber = (2n ** 63n - 1n).toString();

/**
 * Verifies that the audit trail of an organization matches its seals. Seals and rows are read newest first, so that a bound
 * leaves out the oldest. Sealed rows never change, so several statements see a consistent state even while a server
 * writes.
 */
export async function verifySeals(
  reader: Rows,
  orgId: string,
  now: Instant,
  rowsMax: number = Number.POSITIVE_INFINITY,
): Promise<SealVerification> {
  const chain = await verifyChain(reader, orgId, rowsMax);
  const rows = await verifyRows(reader, orgId, now, rowsMax);
  return {
    seals: chain.seals,
    sealedRows: chain.rows,
    unsealedRows: rows.unsealed,
    head: chain.head,
    last: chain.last,
    problems: [...chain.problems, ...rows.problems].slice(0, problemsMax),
    isWhole: chain.isWhole && rows.isWhole,
  };
}

async function verifyChain(reader: Rows, orgId: string, rowsMax: number) {
  const problems: SealProblem[] = [];
  let [seals, rows] = [0, 0];
  let head: string | null = null;
  let last: number | null = null;
  let later: SealRow | undefined;
  let earliest: SealRow | undefined;
  let before = endNumber;
  // The first page is small, because the size of the seals is not known yet.
  let limit = 5;
  let isWhole = false;
  while (
    problems.length < problemsMax &&
    rows < rowsMax &&
    (seals < sealsMax || rowsMax > Number.MAX_SAFE_INTEGER)
  ) {
    const page: readonly SealRow[] = await reader.rows<SealRow>(sealsBefore, [orgId, before, limit]);
    for (const seal of page) {
      head ??= seal.hash;
      last ??= Number(seal.number);
      if (later) problems.push(...linkProblems(seal, later));
      if (earliest && idTimestamp(seal.lastId) - idTimestamp(earliest.firstId) > disorderMsMax) {
        problems.push(disorder(seal, earliest));
        earliest = undefined;
      }
      problems.push(...timeProblems(seal, later), ...(await rowProblems(reader, orgId, seal)));
      if (!earliest || seal.firstId < earliest.firstId) earliest = seal;
      later = seal;
    }
    seals += page.length;
    const named = page.reduce((sum, seal) => sum + seal.named, 0);
    rows += named;
    isWhole = page.length < limit;
    if (isWhole || !later) break;
    before = later.number.toString();
    // Read about the same number of rows per page, whether a seal has one row or a thousand.
    const sealsAtMost = Math.min(rowsInPage, rowsMax - rows) * (page.length / Math.max(named, 1));
    limit = Math.min(sealsInPageMax, Math.max(1, Math.floor(sealsAtMost)));
  }
  if (isWhole && later) problems.push(...firstProblems(later));
  return { seals, rows, head, last, problems, isWhole };
}

function linkProblems(seal: SealRow, later: SealRow): readonly SealProblem[] {
  const laterNumber = Number(later.number);
  if (later.number !== seal.number + 1n)
    return [{ seal: laterNumber, message: missingSeals(Number(seal.number) + 1, laterNumber - 1) }];
  if (later.previous === seal.hash) return [];
  const message = `Seal ${laterNumber} does not continue seal ${seal.number}: one of them was changed or exchanged.`;
  return [{ seal: laterNumber, message }];
}

function firstProblems({ number, previous }: SealRow): readonly SealProblem[] {
  if (number !== 1n) return [{ seal: Number(number), message: missingSeals(1, Number(number) - 1) }];
  return previous === zeros
    ? []
    : [{ seal: 1, message: 'Seal 1 does not begin the chain: it was changed or exchanged.' }];
}

function missingSeals(first: number, last: number): string {
  return first === last ? `Seal ${first} is gone.` : `Seals ${first} to ${last} are gone.`;
}

/** The creation time of a seal is not part of its hash; the chain proves only the order of the seals. */
function timeProblems(seal: SealRow, later: SealRow | undefined): readonly SealProblem[] {
  const isEarly = seal.sealedAt + disorderMsMax < idTimestamp(seal.lastId);
  const isLate = later !== undefined && later.sealedAt + disorderMsMax < seal.sealedAt;
  if (!isEarly && !isLate) return [];
  const conflict = isEarly ? 'before its rows' : `after seal ${later?.number}`;
  const message = `Seal ${seal.number} has the time ${instantToText(seal.sealedAt)}, ${conflict}: the time was changed, or a clock was wrong.`;
  return [{ seal: Number(seal.number), message }];
}

function disorder(seal: SealRow, later: SealRow): SealProblem {
  const [at, reached] = [later.firstId, seal.lastId].map((id) => instantToText(idTimestamp(id)));
  const message =
    `Seal ${later.number} names ${later.firstId} of ${at}, although seal ${seal.number} had already reached ${reached}: ` +
    'the row was added later, or a server clock was wrong.';
  return { seal: Number(later.number), message };
}

async function rowProblems(reader: Rows, orgId: string, seal: SealRow): Promise<readonly SealProblem[]> {
  if (seal.isIntact) return [];
  const number = Number(seal.number);
  if (seal.found < seal.named) {
    const rows = await reader.rows<{ id: string }>(missingRows, [orgId, seal.number.toString()]);
    return rows.map(({ id }) => ({
      seal: number,
      message: `Row ${id}, which seal ${number} names, is gone.`,
    }));
  }
  const which =
    seal.named === 1
      ? `Row ${seal.firstId}`
      : `One of the ${seal.named} rows from ${seal.firstId} to ${seal.lastId}`;
  return [{ seal: number, message: `${which}, or seal ${number} itself, was changed after it was sealed.` }];
}

async function verifyRows(reader: Rows, orgId: string, now: Instant, rowsMax: number) {
  // Measured from the newest row, not only from the clock: the next server seals the last rows of a killed server.
  const [end] = await reader.rows<{ newest: string | null; reached: string | null }>(ends, [orgId]);
  const { newest, reached } = end ?? { newest: null, reached: null };
  const byNewest = Math.min(now, newest === null ? now : idTimestamp(newest)) - unsealedMsMax;
  // Newer rows are sealed, so a server was running; it seals rows that became visible late within minutes.
  const bySeals = Math.min(now, reached === null ? 0 : idTimestamp(reached)) - disorderMsMax;
  const oldBefore = firstIdAt('audit', Math.max(byNewest, bySeals));
  const ids: string[] = [];
  const malformed: string[] = [];
  let [unsealed, old, scanned] = [0, 0, 0];
  let isWhole = false;
  for (let before = endId; scanned < rowsMax; ) {
    const limit = Math.min(rowsInPage, rowsMax - scanned);
    const values = [orgId, before, limit, oldBefore];
    const [page]: readonly UnsealedPage[] = await reader.rows<UnsealedPage>(unsealedBefore, values);
    unsealed += page?.unsealed ?? 0;
    old += page?.oldCount ?? 0;
    scanned += page?.scanned ?? 0;
    if (ids.length < problemsMax) ids.push(...(page?.old ?? []));
    if (malformed.length < problemsMax) malformed.push(...(page?.malformed ?? []));
    isWhole = (page?.scanned ?? 0) < limit;
    if (isWhole || !page?.reached) break;
    before = page.reached;
  }
  const listedIds = ids.slice(0, problemsMax - 1).sort();
  const problems: SealProblem[] = malformed.map((id) => ({
    seal: null,
    message: `Row ${JSON.stringify(id)} has an id that no server generates: it was added or changed.`,
  }));
  const unnamed = listedIds.map((id) => ({
    seal: null,
    message: `No seal names row ${id} of ${instantToText(idTimestamp(id))}: it was added later, or no server was running to seal it.`,
  }));
  problems.push(...unnamed);
  if (old > listedIds.length)
    problems.push({
      seal: null,
      message: `No seal names ${old - listedIds.length} more rows that are older than the sealed rows.`,
    });
  return { unsealed, problems, isWhole };
}

/** The last seal of an organization, as saved outside the database. */
export interface Head {
  readonly orgId: string;
  readonly number: number;
  readonly hash: string;
}

const sealHash: Statement = {
  name: 'audit_seal_hash',
  text: `select encode(s.hash, 'hex') as hash from audit_seals s where s.org_id = $1 and s.number = $2`,
};

/**
 * Compares a saved head with the seal of the same number. In an intact chain the hash of a seal covers all rows up to it,
 * so this detects a truncated end and a rebuilt chain.
 */
export async function headProblem(
  reader: Rows,
  { orgId, number, hash }: Head,
): Promise<SealProblem | undefined> {
  const [seal] = await reader.rows<{ hash: string }>(sealHash, [orgId, number]);
  if (seal?.hash === hash) return undefined;
  const message = seal
    ? `Seal ${number} does not have the saved hash: the chain was rebuilt.`
    : `Seal ${number}, whose hash was saved, is gone: the end of the chain was cut off.`;
  return { seal: number, message };
}
