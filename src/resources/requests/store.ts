import { firstIdAt, type Id } from '../../kernel/ids.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { bucketNames, type MinuteRow, type RequestRow, requestsTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

/** A request in a list: without bodies, and with the name of its API key or person. */
export interface ListedRequest extends Omit<RequestRow, 'requestBody' | 'responseBody'> {
  readonly actorName: string | null;
}

export interface RequestFilter {
  /** Null for all applications of the organization. */
  readonly appId: Id<'application'> | null;
  readonly statusFrom: number | null;
  readonly statusTo: number | null;
  readonly method: string | null;
  readonly errorCode: string | null;
  readonly actorId: string | null;
  /** Excludes console requests. */
  readonly onlyKeys: boolean;
  readonly pathPrefix: string | null;
  /** A record id: only requests with this id in their path, and the request that created the record. */
  readonly resourceId: string | null;
  /** Only requests that this fault plan hit. */
  readonly faultPlanId: Id<'fault_plan'> | null;
  /** The range of ids: `fromId` inclusive, `toId` exclusive. */
  readonly fromId: string;
  readonly toId: string;
  /** The last id of the previous page. */
  readonly cursorId: string | null;
  /** A request id: only requests that were logged after it, whenever they were received. */
  readonly loggedAfterId: string | null;
}

export interface RequestPage {
  readonly rows: readonly ListedRequest[];
  /** The id to continue after; null on the last page. */
  readonly nextId: string | null;
}

/** Sorts after every request id. */
export const endOfIds = 'req_~';
const endOfPositions = '9223372036854775807';
const scannedMax = 10_000;
const minutesMax = 50_000;
const refusedStatusMin = 400;

const listed = {
  ...requestsTable,
  columns: requestsTable.columns.filter(({ property }) => !/Body$/.test(property)),
};

/** The name of the API key or person. With `offset 0` even a plan that was cached while the tables were empty looks up by key. */
const nameOf = (org: string, actor: string) => `left join lateral (
      (select k.name from api_keys k where k.org_id = ${org} and k.id = ${actor} offset 0)
      union all (select p.name from persons p where p.id = ${actor} offset 0)) k on true`;

/**
 * The index scans behind the list, each on a different index. Every statement contains all filters, so that there is only one
 * statement per scan. A scan ends after `scannedMax` rows, matching or not: a search for rare requests then takes several pages
 * instead of one statement that runs longer than the caller waits.
 */
const scans = {
  organization: 't.id >= $2 and t.id < $3 and ($4::text is null or t.app_id = $4)',
  application: 't.id >= $2 and t.id < $3 and t.app_id = $4',
  refused: 't.id >= $2 and t.id < $3 and t.error_code is not null and ($4::text is null or t.app_id = $4)',
  behind: 't.position > $2::bigint and t.position < $3::bigint and ($4::text is null or t.app_id = $4)',
} as const;
type Scan = keyof typeof scans;

const scanOrders: Readonly<Record<Scan, string>> = {
  organization: 't.org_id desc, t.id desc',
  application: 't.org_id desc, t.app_id desc, t.id desc',
  refused: 't.org_id desc, t.id desc',
  behind: 't.org_id desc, t.position desc',
};

const page = (scan: Scan): Statement => ({
  name: `requests_list_${scan}`,
  text: `select s.*, k.name as "actorName" from (
      select s.* from (
        select ${selectList(listed, 't')}, t.position from requests t
        where t.org_id = $1 and ${scans[scan]}
        order by ${scanOrders[scan]} limit ${scannedMax}) s
      where ($5::integer is null or s."httpStatus" >= $5) and ($6::integer is null or s."httpStatus" <= $6)
        and ($7::text is null or s.method = $7) and ($8::text is null or s."errorCode" = $8)
        and ($9::text is null or s."actorId" = $9) and ($10::text is null or starts_with(s.path, $10))
        and ($11::text is null or position($11 in s.path) > 0 or s.id = 'req' || substr($11, 4))
        and s.id < $13 and ($14::text is null or s."faultPlanId" = $14) and (not $15::boolean or s."actorKind" = 'api_key')
      limit $12) s ${nameOf('s."orgId"', 's."actorId"')} order by ${scan === 'behind' ? 's.position' : 's.id'} desc`,
});

/** The last row of a scan that reached `scannedMax`. */
const end = (scan: Scan): Statement => ({
  name: `requests_end_${scan}`,
  text: `select t.id from requests t where t.org_id = $1 and ${scans[scan]}
    order by ${scanOrders[scan]} offset ${scannedMax - 1} limit 1`,
});

const pages: Readonly<Record<Scan, Statement>> = {
  organization: page('organization'),
  application: page('application'),
  refused: page('refused'),
  behind: page('behind'),
};
const ends: Readonly<Record<Scan, Statement>> = {
  organization: end('organization'),
  application: end('application'),
  refused: end('refused'),
  behind: end('behind'),
};

function scanOf({ appId, statusFrom, errorCode }: RequestFilter): Scan {
  if (errorCode !== null || (statusFrom !== null && statusFrom >= refusedStatusMin)) return 'refused';
  return appId === null ? 'organization' : 'application';
}

const position: Statement = {
  name: 'request_position',
  text: `select t.position::text as position from requests t where t.org_id = $1 and t.id >= $2 and t.id <= $2
    order by t.org_id desc, t.id desc limit 1`,
};

/** The position of a request in the log; undefined if the request is not stored. */
async function findPosition(
  reader: Rows,
  orgId: Id<'organization'>,
  id: string | null,
): Promise<string | undefined> {
  if (id === null) return undefined;
  const [row] = await reader.rows<{ position: string }>(position, [orgId, id]);
  return row?.position;
}

/** All ids have the same length, so no id sorts between an id and the same id with a suffix. */
function laterId(id: string | null, fromId: string): string {
  return id !== null && id >= fromId ? `${id}0` : fromId;
}

function earlierId(id: string | null, toId: string): string {
  return id !== null && id < toId ? id : toId;
}

export async function findRequests(
  reader: Rows,
  orgId: Id<'organization'>,
  filter: RequestFilter,
  limit: number,
): Promise<RequestPage> {
  const loggedAfter = await findPosition(reader, orgId, filter.loggedAfterId);
  const scan = loggedAfter === undefined ? scanOf(filter) : 'behind';
  const [from, to] =
    loggedAfter === undefined
      ? [laterId(filter.loggedAfterId, filter.fromId), earlierId(filter.cursorId, filter.toId)]
      : [loggedAfter, (await findPosition(reader, orgId, filter.cursorId)) ?? endOfPositions];
  const span = [orgId, from, to, filter.appId];
  const { statusFrom, statusTo, method, errorCode, actorId, pathPrefix, resourceId } = filter;
  const rows = await reader.rows<ListedRequest>(pages[scan], [
    ...span,
    ...[statusFrom, statusTo, method, errorCode, actorId, pathPrefix, resourceId],
    limit + 1,
    filter.toId,
    filter.faultPlanId,
    filter.onlyKeys,
  ]);
  if (rows.length > limit) return { rows: rows.slice(0, limit), nextId: rows[limit - 1]?.id ?? null };
  const [last] = await reader.rows<{ id: string }>(ends[scan], span);
  return { rows, nextId: last?.id ?? null };
}

/** A range of one id, in order: with equality, a plan cached on an empty table may use the application index for ever. */
const one: Statement = {
  name: 'request_by_key',
  text: `select t.*, k.name as "actorName" from (
      select ${selectList(requestsTable, 't')} from requests t where t.org_id = $1 and t.id >= $2 and t.id <= $2
      order by t.org_id desc, t.id desc limit 1) t ${nameOf('t."orgId"', 't."actorId"')}`,
};

export async function findRequest(
  reader: Rows,
  orgId: Id<'organization'>,
  id: string,
): Promise<(RequestRow & Pick<ListedRequest, 'actorName'>) | undefined> {
  const [row] = await reader.rows<RequestRow & Pick<ListedRequest, 'actorName'>>(one, [orgId, id]);
  return row;
}

/** Refused requests with the same code, status and route. */
export interface ErrorGroup {
  readonly code: string;
  readonly httpStatus: number;
  readonly route: string;
  readonly count: number;
  readonly lastAt: Instant;
  readonly lastRequestId: string;
}

const errorGroupsMax = 100;

const errors: Statement = {
  name: 'request_errors',
  text: `select t.error_code as code, t.http_status as "httpStatus", t.route, count(*)::integer as count,
      max(t.at) as "lastAt", max(t.id) as "lastRequestId"
    from (select t.error_code, t.http_status, t.route, t.at, t.id from requests t
      where t.org_id = $1 and t.error_code is not null and t.id >= $2 and ($3::text is null or t.app_id = $3)
      order by t.org_id desc, t.id desc limit ${scannedMax}) t
    group by 1, 2, 3 order by count(*) desc, max(t.id) desc limit ${errorGroupsMax}`,
};

export function findRequestErrors(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'> | null,
  since: Instant,
): PromiseLike<readonly ErrorGroup[]> {
  return reader.rows<ErrorGroup>(errors, [orgId, firstIdAt('request', since), appId]);
}

/** Request counts for a range of minutes; `buckets` has one count per entry of `bucketNames`. */
export interface CountedMinutes
  extends Pick<MinuteRow, 'minute' | 'requests' | 'clientErrors' | 'serverErrors' | 'notKept'> {
  readonly buckets: readonly number[];
}

type CountedRow = Omit<MinuteRow, 'orgId' | 'appId'>;

// As float8, which is exact here and which the driver returns as a number: the sum of a month may exceed an integer.
const summed = (column: string, property: string) => `sum(m.${column})::float8 as "${property}"`;

const minutesOf = (level: 'application' | 'organization'): Statement => ({
  name: `request_minutes_of_${level}`,
  text: `select date_bin(make_interval(mins => $4::integer), m.minute, $2::timestamptz) as minute, ${[
    summed('requests', 'requests'),
    summed('client_errors', 'clientErrors'),
    summed('server_errors', 'serverErrors'),
    summed('not_kept', 'notKept'),
    ...bucketNames.map((name) => summed(name, name)),
  ].join(', ')}
    from request_minutes m
    where m.org_id = $1 ${level === 'application' ? 'and m.app_id = $5' : ''} and m.minute >= $2 and m.minute < $3
    group by 1 order by 1 limit ${minutesMax}`,
});
const minutesOfApplication = minutesOf('application');
const minutesOfOrganization = minutesOf('organization');

/**
 * Request counts between two instants, oldest first, in steps of `stepMinutes` that begin at `from`. Steps without requests are
 * omitted.
 */
export async function findRequestMinutes(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'> | null,
  from: Instant,
  to: Instant,
  stepMinutes = 1,
): Promise<readonly CountedMinutes[]> {
  const span = [orgId, new Date(from).toISOString(), new Date(to).toISOString(), stepMinutes];
  const rows = await (appId === null
    ? reader.rows<CountedRow>(minutesOfOrganization, span)
    : reader.rows<CountedRow>(minutesOfApplication, [...span, appId]));
  return rows.map(({ minute, requests, clientErrors, serverErrors, notKept, ...counts }) => ({
    minute,
    requests,
    clientErrors,
    serverErrors,
    notKept,
    buckets: bucketNames.map((name) => counts[name]),
  }));
}
