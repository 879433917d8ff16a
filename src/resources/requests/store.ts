import { firstIdAt } from '../../kernel/ids.ts';
import type { Reader } from '../../kernel/route.ts';
import { type Instant, type Statement, selectList } from '../../kernel/table.ts';
import { bucketNames, type MinuteRow, type RequestRow, requestsTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

/** A request as it is listed: without bodies, and with the name of the key. */
export interface ListedRequest extends Omit<RequestRow, 'requestBody' | 'responseBody'> {
  readonly actorName: string | null;
}

export interface RequestFilter {
  /** Null for all applications of the organization. */
  readonly appId: string | null;
  readonly statusFrom: number | null;
  readonly statusTo: number | null;
  readonly method: string | null;
  readonly errorCode: string | null;
  readonly actorId: string | null;
  /** Leaves out what people did in the console. */
  readonly onlyKeys: boolean;
  readonly pathPrefix: string | null;
  /** A record: requests that name it, and the one that made it. */
  readonly resourceId: string | null;
  /** The plan that hit them. */
  readonly faultPlanId: string | null;
  /** Ids from the first, included, to the second, not included. */
  readonly fromId: string;
  readonly toId: string;
  /** Where the page before has ended. */
  readonly cursorId: string | null;
  /** A request: what was written behind it, whenever it came. */
  readonly behindId: string | null;
}

export interface RequestPage {
  readonly rows: readonly ListedRequest[];
  /** Where to go on; null when all was looked at. */
  readonly nextId: string | null;
}

/** Sorts behind every id of a request. */
export const endOfIds = 'req_~';
const endOfPositions = '9223372036854775807';
const scannedMax = 10_000;
const minutesMax = 50_000;
const refusedStatusMin = 400;

const listed = {
  ...requestsTable,
  columns: requestsTable.columns.filter(({ property }) => !/Body$/.test(property)),
};

/** The name of the key. With `offset 0` a plan that was made while tables were empty looks up by key. */
const nameOf = (org: string, actor: string) => `left join lateral (
      (select k.name from api_keys k where k.org_id = ${org} and k.id = ${actor} offset 0)
      union all (select p.name from persons p where p.id = ${actor} offset 0)) k on true`;

/**
 * Where the rows of a list come from, each a walk down an index of its own; every filter is always in the statement, so that
 * there are as many statements as walks. A walk ends after so many rows, found or not: what nobody has done for days is
 * looked for page by page, and not in one statement that no caller waits for.
 */
const walks = {
  organization: 't.id >= $2 and t.id < $3 and ($4::text is null or t.app_id = $4)',
  application: 't.id >= $2 and t.id < $3 and t.app_id = $4',
  refused: 't.id >= $2 and t.id < $3 and t.error_code is not null and ($4::text is null or t.app_id = $4)',
  behind: 't.position > $2::bigint and t.position < $3::bigint and ($4::text is null or t.app_id = $4)',
} as const;
type Walk = keyof typeof walks;

const orders: Readonly<Record<Walk, string>> = {
  organization: 't.org_id desc, t.id desc',
  application: 't.org_id desc, t.app_id desc, t.id desc',
  refused: 't.org_id desc, t.id desc',
  behind: 't.org_id desc, t.position desc',
};

const page = (walk: Walk): Statement => ({
  name: `requests_list_${walk}`,
  text: `select s.*, k.name as "actorName" from (
      select s.* from (
        select ${selectList(listed, 't')}, t.position from requests t
        where t.org_id = $1 and ${walks[walk]}
        order by ${orders[walk]} limit ${scannedMax}) s
      where ($5::integer is null or s."httpStatus" >= $5) and ($6::integer is null or s."httpStatus" <= $6)
        and ($7::text is null or s.method = $7) and ($8::text is null or s."errorCode" = $8)
        and ($9::text is null or s."actorId" = $9) and ($10::text is null or starts_with(s.path, $10))
        and ($11::text is null or position($11 in s.path) > 0 or s.id = 'req' || substr($11, 4))
        and s.id < $13 and ($14::text is null or s."faultPlanId" = $14) and (not $15::boolean or s."actorKind" = 'api_key')
      limit $12) s ${nameOf('s."orgId"', 's."actorId"')} order by ${walk === 'behind' ? 's.position' : 's.id'} desc`,
});

/** The last row of a walk that was ended before its time. */
const end = (walk: Walk): Statement => ({
  name: `requests_end_${walk}`,
  text: `select t.id from requests t where t.org_id = $1 and ${walks[walk]}
    order by ${orders[walk]} offset ${scannedMax - 1} limit 1`,
});

const pages: Readonly<Record<Walk, Statement>> = {
  organization: page('organization'),
  application: page('application'),
  refused: page('refused'),
  behind: page('behind'),
};
const ends: Readonly<Record<Walk, Statement>> = {
  organization: end('organization'),
  application: end('application'),
  refused: end('refused'),
  behind: end('behind'),
};

function walkOf({ appId, statusFrom, errorCode }: RequestFilter): Walk {
  if (errorCode !== null || (statusFrom !== null && statusFrom >= refusedStatusMin)) return 'refused';
  return appId === null ? 'organization' : 'application';
}

const position: Statement = {
  name: 'request_position',
  text: `select t.position::text as position from requests t where t.org_id = $1 and t.id >= $2 and t.id <= $2
    order by t.org_id desc, t.id desc limit 1`,
};

/** Where a request was written; undefined for one that is not kept, or not any more. */
async function findPosition(reader: Rows, orgId: string, id: string | null): Promise<string | undefined> {
  if (id === null) return undefined;
  const [row] = await reader.rows<{ position: string }>(position, [orgId, id]);
  return row?.position;
}

/** Ids are all of one length, so nothing is between an id and what begins with it. */
function laterId(id: string | null, fromId: string): string {
  return id !== null && id >= fromId ? `${id}0` : fromId;
}

function earlierId(id: string | null, toId: string): string {
  return id !== null && id < toId ? id : toId;
}

export async function findRequests(
  reader: Rows,
  orgId: string,
  filter: RequestFilter,
  limit: number,
): Promise<RequestPage> {
  const behind = await findPosition(reader, orgId, filter.behindId);
  const walk = behind === undefined ? walkOf(filter) : 'behind';
  const [from, to] =
    behind === undefined
      ? [laterId(filter.behindId, filter.fromId), earlierId(filter.cursorId, filter.toId)]
      : [behind, (await findPosition(reader, orgId, filter.cursorId)) ?? endOfPositions];
  const span = [orgId, from, to, filter.appId];
  const { statusFrom, statusTo, method, errorCode, actorId, pathPrefix, resourceId } = filter;
  const rows = await reader.rows<ListedRequest>(pages[walk], [
    ...span,
    ...[statusFrom, statusTo, method, errorCode, actorId, pathPrefix, resourceId],
    limit + 1,
    filter.toId,
    filter.faultPlanId,
    filter.onlyKeys,
  ]);
  if (rows.length > limit) return { rows: rows.slice(0, limit), nextId: rows[limit - 1]?.id ?? null };
  const [last] = await reader.rows<{ id: string }>(ends[walk], span);
  return { rows, nextId: last?.id ?? null };
}

/** As a span of one id, in order: by equality a plan made on an empty table may take the index by application, and keep it. */
const one: Statement = {
  name: 'request_by_key',
  text: `select t.*, k.name as "actorName" from (
      select ${selectList(requestsTable, 't')} from requests t where t.org_id = $1 and t.id >= $2 and t.id <= $2
      order by t.org_id desc, t.id desc limit 1) t ${nameOf('t."orgId"', 't."actorId"')}`,
};

export async function findRequest(
  reader: Rows,
  orgId: string,
  id: string,
): Promise<(RequestRow & Pick<ListedRequest, 'actorName'>) | undefined> {
  const [row] = await reader.rows<RequestRow & Pick<ListedRequest, 'actorName'>>(one, [orgId, id]);
  return row;
}

/** Refused requests that are alike. */
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
  orgId: string,
  appId: string | null,
  since: Instant,
): PromiseLike<readonly ErrorGroup[]> {
  return reader.rows<ErrorGroup>(errors, [orgId, firstIdAt('request', since), appId]);
}

/** The requests of a span of minutes, counted; `buckets` are those of kernel/histogram. */
export interface CountedMinutes
  extends Pick<MinuteRow, 'minute' | 'requests' | 'clientErrors' | 'serverErrors' | 'notKept'> {
  readonly buckets: readonly number[];
}

type CountedRow = Omit<MinuteRow, 'orgId' | 'appId'>;

// As floating point, which is exact here and comes as a number: a month of sums may be more than an integer holds.
const summed = (column: string, property: string) => `sum(m.${column})::float8 as "${property}"`;

const minutesOf = (whom: 'application' | 'organization'): Statement => ({
  name: `request_minutes_of_${whom}`,
  text: `select date_bin(make_interval(mins => $4::integer), m.minute, $2::timestamptz) as minute, ${[
    summed('requests', 'requests'),
    summed('client_errors', 'clientErrors'),
    summed('server_errors', 'serverErrors'),
    summed('not_kept', 'notKept'),
    ...bucketNames.map((name) => summed(name, name)),
  ].join(', ')}
    from request_minutes m
    where m.org_id = $1 ${whom === 'application' ? 'and m.app_id = $5' : ''} and m.minute >= $2 and m.minute < $3
    group by 1 order by 1 limit ${minutesMax}`,
});
const minutesOfApplication = minutesOf('application');
const minutesOfOrganization = minutesOf('organization');

/**
 * Counts from one instant to another, the oldest first, in steps of so many minutes that begin at `from`. Steps without
 * requests are left out.
 */
export async function findRequestMinutes(
  reader: Rows,
  orgId: string,
  appId: string | null,
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
