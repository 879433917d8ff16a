import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import { firstIdAt, idPrefixes, isId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { decodeCursor, encodeCursor, instantToText } from '../../kernel/list.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { ConsoleRoute, Principal, Route } from '../../kernel/route.ts';
import {
  component,
  id,
  list,
  nullable,
  pageQuery,
  resource,
  strict,
  Time,
  text,
} from '../../kernel/schema.ts';
import { hourMs } from '../../kernel/time.ts';
import {
  endOfIds,
  findRequest,
  findRequestErrors,
  findRequests,
  type ListedRequest,
  type RequestFilter,
} from './store.ts';

const pathLengthMax = 500;
const hoursDefault = 24;
const apiPrefix = '/_api/';

const Scope = Type.Optional(
  Type.Enum(['application', 'organization'], {
    description: 'Requests of this application, which is the default, or of all in the organization.',
  }),
);

const ListQuery = strict({
  ...pageQuery,
  scope: Scope,
  status: Type.Optional(
    Type.String({ pattern: '^[1-5](xx|\\d\\d)$', description: 'A class such as 4xx, or one status.' }),
  ),
  method: Type.Optional(Type.Enum(['GET', 'HEAD', 'POST'], { description: 'Only requests of this method.' })),
  errorCode: Type.Optional(
    Type.String({ ...text(limits.nameLengthMax), description: 'Only requests refused with this code.' }),
  ),
  actorId: Type.Optional(
    Type.String({ ...text(limits.nameLengthMax), description: 'Only requests of this API key or person.' }),
  ),
  apiKeyId: Type.Optional(
    Type.String({ ...text(limits.nameLengthMax), description: 'Only requests with this API key.' }),
  ),
  path: Type.Optional(
    Type.String({
      ...text(pathLengthMax),
      description: 'Only requests whose path begins with this, with or without `/_api/`.',
    }),
  ),
  resourceId: Type.Optional(
    Type.String({
      pattern: `^(${Object.values(idPrefixes).join('|')})_[0-7][0-9a-z]{25}$`,
      description: 'Only requests that name this record in their path.',
    }),
  ),
  faultPlanId: Type.Optional(id('fault_plan', { description: 'Only requests that this fault plan hit.' })),
  after: Type.Optional(
    Type.Union([Time, id('request')], {
      description:
        'An instant: only requests received after it. Or a request id: only requests logged after that one. A client that always passes the newest id it has seen receives every request exactly once.',
    }),
  ),
  before: Type.Optional(Type.String({ ...Time, description: 'Only requests received before this instant.' })),
});

const ErrorsQuery = strict({
  scope: Scope,
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.requestErrorHoursMax, default: hoursDefault }),
  ),
});

const shown = {
  id: id('request'),
  applicationId: nullable(id('application')),
  at: Time,
  method: Type.String(),
  path: Type.String(),
  query: nullable(Type.String()),
  route: Type.String({ description: 'The operation of this document.' }),
  httpStatus: Type.Integer(),
  durationMs: Type.Number({ minimum: 0 }),
  errorCode: nullable(Type.String()),
  actor: Type.Object({
    kind: Type.Enum(['api_key', 'person', 'system']),
    id: Type.String(),
    name: nullable(Type.String()),
  }),
  ip: nullable(Type.String()),
  idempotencyKey: nullable(Type.String()),
  isReplay: Type.Boolean(),
  faultPlanId: nullable({
    ...id('fault_plan'),
    description: 'The fault plan that hit the request. `httpStatus` is 0 if no response was sent.',
  }),
} as const;

const RequestSchema = resource('request', ['ok'], shown);

const DetailSchema = resource('request', ['ok'], {
  ...shown,
  requestBody: nullable(Type.String({ description: 'Redacted, and cut at 16 KiB.' })),
  responseBody: nullable(
    Type.String({ description: 'Redacted, and cut at 16 KiB; under high load at 2 KiB.' }),
  ),
});

const ErrorsSchema = resource('request_errors', ['ok'], {
  hours: Type.Integer(),
  groups: Type.Array(
    Type.Object(
      {
        code: Type.String(),
        httpStatus: Type.Integer(),
        route: Type.String(),
        count: Type.Integer({ minimum: 1 }),
        lastAt: Time,
        lastRequestId: id('request'),
      },
      component('RequestErrorGroup'),
    ),
  ),
});

/** Logged requests contain data of all resources, so reading them requires all read scopes. */
const meta = {
  method: 'GET',
  scope: scopes.filter((scope) => scope.endsWith(':read')),
  tag: 'Requests',
  flushBefore: 'requests',
} as const;

/** The log of recent API requests and responses. */
export const requestRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listRequests',
    path: 'developer_api_requests',
    summary: 'List requests, newest first; an API key sees those of API keys',
    query: ListQuery,
    response: list(RequestSchema),
    responseName: 'LoggedRequestList',
    read: async ({ reader, principal, query }) => {
      const listQuery = query as Static<typeof ListQuery>;
      const filter = filterOf(listQuery, principal);
      if (filter === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
      const { rows, nextId } = await findRequests(
        reader,
        principal.orgId,
        filter,
        listQuery.limit ?? limits.listLimitDefault,
      );
      return {
        data: rows.map(presentRequest),
        hasMore: nextId !== null,
        nextCursor: nextId === null ? null : encodeCursor(nextId),
      };
    },
  },
  {
    ...meta,
    operationId: 'retrieveRequest',
    path: 'developer_api_requests/{id}',
    summary: 'Retrieve a request with its redacted request and response bodies',
    response: DetailSchema,
    responseName: 'LoggedRequest',
    read: async ({ reader, principal, params }) => {
      const requestId = params.id ?? '';
      const row = isId('request', requestId)
        ? await findRequest(reader, principal.orgId, requestId)
        : undefined;
      if (!row || (isKey(principal) && row.actorKind !== 'api_key')) return refuse('resource_not_found');
      return { ...presentRequest(row), requestBody: row.requestBody, responseBody: row.responseBody };
    },
  },
];

/** Additional routes for the console. */
export const requestErrorRoutes: readonly ConsoleRoute[] = [
  {
    method: 'GET',
    role: 'viewer',
    level: 'application',
    flushBefore: 'requests',
    operationId: 'listRequestErrors',
    path: 'request_errors',
    summary: 'Group the refused requests of the last hours, the most frequent first',
    query: ErrorsQuery,
    response: ErrorsSchema,
    responseName: 'RequestErrors',
    read: async ({ reader, principal, query, now }) => {
      const { hours = hoursDefault, scope } = query as Static<typeof ErrorsQuery>;
      const appId = scope === 'organization' ? null : principal.appId;
      const groups = await findRequestErrors(reader, principal.orgId, appId, now - hours * hourMs);
      return {
        object: 'request_errors',
        sandbox: true,
        status: 'ok',
        hours,
        groups: groups.map(({ lastAt, ...group }) => ({ ...group, lastAt: instantToText(lastAt) })),
      };
    },
  },
];

/** Console requests contain names, email addresses and invitations. Other people may see them, API keys may not. */
function isKey({ actor }: Principal): boolean {
  return actor.kind === 'api_key';
}

function filterOf(
  listQuery: Static<typeof ListQuery>,
  principal: Principal,
): RequestFilter | 'invalid_cursor' {
  const cursorId = listQuery.cursor === undefined ? null : decodeCursor('request', listQuery.cursor);
  if (cursorId === undefined) return 'invalid_cursor';
  const { after, before } = listQuery;
  const isRequestId = after !== undefined && isId('request', after);
  const [statusFrom, statusTo] = statusesOf(listQuery.status);
  return {
    appId: listQuery.scope === 'organization' ? null : principal.appId,
    statusFrom,
    statusTo,
    method: listQuery.method ?? null,
    errorCode: listQuery.errorCode ?? null,
    actorId: listQuery.actorId ?? listQuery.apiKeyId ?? null,
    onlyKeys: isKey(principal),
    pathPrefix: listQuery.path === undefined ? null : fullPath(listQuery.path),
    resourceId: listQuery.resourceId ?? null,
    faultPlanId: listQuery.faultPlanId ?? null,
    fromId: firstIdAt('request', after === undefined || isRequestId ? 0 : Date.parse(after) + 1),
    toId: before === undefined ? endOfIds : firstIdAt('request', Math.ceil(Date.parse(before))),
    cursorId,
    loggedAfterId: isRequestId ? after : null,
  };
}

function statusesOf(status: string | undefined): readonly [from: number | null, to: number | null] {
  if (status === undefined) return [null, null];
  if (!status.endsWith('xx')) return [Number(status), Number(status)];
  return [Number(status[0]) * 100, Number(status[0]) * 100 + 99];
}

/** Adds the common prefix, because the documentation names operations without it. */
function fullPath(path: string): string {
  return path.startsWith('/') ? path : apiPrefix + path;
}

function presentRequest(row: ListedRequest): Presented {
  return {
    object: 'request',
    sandbox: true,
    status: 'ok',
    id: row.id,
    applicationId: row.appId === '' ? null : row.appId,
    at: instantToText(row.at),
    method: row.method,
    path: row.path,
    query: row.query,
    route: row.route,
    httpStatus: row.httpStatus,
    durationMs: row.durationUs / 1_000,
    errorCode: row.errorCode,
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    ip: row.ip,
    idempotencyKey: row.idempotencyKey,
    isReplay: row.isReplay,
    faultPlanId: row.faultPlanId,
  };
}
