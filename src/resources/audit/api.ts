import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { decodeCursor, encodeCursor, instantToText } from '../../kernel/list.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { ConsoleRoute, Principal, ReadRequest, ReadRoute, Route } from '../../kernel/route.ts';
import { id, list, nullable, pageQuery, resource, strict, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { type SealVerification, verifySeals } from './seal-store.ts';
import { type AuditActor, type AuditEntry, auditKinds, findAudit, findRecentValues } from './store.ts';

const filterText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, description }));

const auditQuery = {
  ...pageQuery,
  actorId: filterText('Only writes by this API key, person or server component.'),
  action: filterText('Only this action, such as `payments.advance`.'),
  resource: filterText('Only records of this kind, such as `payment`.'),
  resourceId: filterText('Only writes to this record, refused ones included.'),
  requestId: Type.Optional(id('request', { description: 'Only writes of this request.' })),
  applicationId: Type.Optional(id('application', { description: 'Only writes of this application.' })),
  outcome: Type.Optional(
    Type.Enum(['accepted', 'refused'], { description: 'Only accepted or only refused writes.' }),
  ),
  after: Type.Optional(Type.String({ ...Time, description: 'Only entries after this instant.' })),
  before: Type.Optional(Type.String({ ...Time, description: 'Only entries before this instant.' })),
};
const AuditQuery = strict(auditQuery);

const kind = Type.Optional(
  Type.Enum([...auditKinds], { description: 'Only changes, or only reads without permission.' }),
);
const ConsoleAuditQuery = strict({ ...auditQuery, kind });
const ValuesQuery = strict({ kind });

const Actor = Type.Object({
  kind: Type.Enum(['api_key', 'person', 'system']),
  id: Type.String(),
  name: nullable(Type.String({ description: 'API keys do not see the names of people.' })),
});

const ValuesSchema = resource('audit_values', ['ok'], {
  actors: Type.Array(Actor, { description: 'The actors of the newest entries.' }),
  actions: Type.Array(Type.String(), { description: 'The actions of the newest entries.' }),
});

const EntrySchema = resource('audit_entry', ['accepted', 'refused'], {
  id: id('audit'),
  at: Time,
  actor: Actor,
  applicationId: nullable(id('application')),
  action: Type.String({ description: 'The command, such as `payments.advance`.' }),
  resource: nullable(Type.String({ description: 'The kind of the record, such as `payment`.' })),
  resourceId: nullable(
    Type.String({ description: 'The record; null if the organization has none with this id.' }),
  ),
  requestId: Type.String({ description: 'The request that wrote the entry.' }),
  ip: nullable(Type.String({ description: 'API keys do not see the addresses of people.' })),
  outcome: Type.Enum(['accepted', 'refused']),
  code: nullable(Type.String({ description: 'The error code of a refusal.' })),
});

const VerificationSchema = resource('audit_verification', ['intact', 'broken'], {
  seals: Type.Integer({ minimum: 0 }),
  sealedRows: Type.Integer({ minimum: 0 }),
  unsealedRows: Type.Integer({ minimum: 0, description: 'Rows of the last seconds that have no seal yet.' }),
  head: nullable(Type.String({ description: 'The hash of the last seal.' })),
  isWhole: Type.Boolean({ description: 'Whether the whole trail was verified or only its newest part.' }),
  problems: Type.Array(Type.Object({ seal: nullable(Type.Integer()), message: Type.String() })),
  checkedAt: Time,
});

/** The caller waits for the response: a few seconds of work at most. `sandbank verify` checks everything. */
const rowsVerifiedMax = 200_000;

/** API keys see people by id alone: names and addresses are personal data, which integrations do not need. */
function presentAudit(row: AuditEntry, principal: Principal): Presented {
  const isKey = principal.role === null;
  return {
    object: 'audit_entry',
    sandbox: true,
    status: row.outcome,
    id: row.id,
    at: instantToText(row.at),
    actor: presentActor(row, principal),
    applicationId: row.appId,
    action: row.action,
    resource: row.resource,
    resourceId: row.resourceId,
    // The request that wrote the entry; the list itself has the id of the reading request.
    requestId: row.requestId,
    ip: isKey && row.actorKind !== 'api_key' ? null : row.ip,
    outcome: row.outcome,
    code: row.code,
  };
}

function presentActor({ actorKind, actorId, actorName }: AuditActor, { role }: Principal) {
  const name = actorName ?? (actorKind === 'system' ? actorId : null);
  return { kind: actorKind, id: actorId, name: role === null && actorKind === 'person' ? null : name };
}

const listEntries: ReadRoute['read'] = async ({ reader, principal, query }) => {
  const { limit = limits.listLimitDefault, cursor, ...filter } = query as Static<typeof ConsoleAuditQuery>;
  const before = cursor === undefined ? undefined : decodeCursor('audit', cursor);
  if (cursor !== undefined && before === undefined) return refuse('invalid_cursor', { param: 'cursor' });
  const { rows, next } = await findAudit(reader, principal.orgId, filter, before, limit);
  return {
    data: rows.map((row) => presentAudit(row, principal)),
    hasMore: next !== null,
    nextCursor: next === null ? null : encodeCursor(next),
  };
};

interface Verified extends SealVerification {
  readonly checkedAt: Instant;
}

/** Running verifications by organization. A database has one reader per process. */
const running = new WeakMap<Reader, Map<string, Promise<Verified>>>();

// Each occupies one pool connection for about a second.
const verificationsMax = 3;

/** At most one verification per organization and process: concurrent callers share its result. */
function verifyOnce({ reader, principal: { orgId }, now }: ReadRequest): Promise<Verified> | Refusal {
  const byOrganization = running.get(reader) ?? new Map<string, Promise<Verified>>();
  running.set(reader, byOrganization);
  const shared = byOrganization.get(orgId);
  if (shared) return shared;
  if (byOrganization.size >= verificationsMax)
    return refuse('service_unavailable', {
      message: 'Other audit trails are being verified. Try again in a moment.',
      retryAfterSeconds: 2,
    });
  const verified = verifySeals(reader, orgId, now, rowsVerifiedMax)
    .then((verification) => ({ ...verification, checkedAt: now }))
    .finally(() => byOrganization.delete(orgId));
  byOrganization.set(orgId, verified);
  return verified;
}

const verifyEntries: ReadRoute['read'] = async (request) => {
  const verified = await verifyOnce(request);
  if ('ok' in verified) return verified;
  const { last: _last, checkedAt, ...verification } = verified;
  return {
    object: 'audit_verification',
    sandbox: true,
    status: verification.problems.length === 0 ? 'intact' : 'broken',
    ...verification,
    checkedAt: instantToText(checkedAt),
  };
};

/** The trail names records and actions of every kind, so a key needs every read scope. */
const reading = {
  method: 'GET',
  scope: scopes.filter((scope) => scope.endsWith(':read')),
  tag: 'Audit',
} as const;

const listMeta = {
  summary: 'List audit entries, newest first; a filtered page can be short or empty although more follow',
  query: AuditQuery,
  response: list(EntrySchema),
  responseName: 'AuditEntryList',
  read: listEntries,
} as const;

const verifyMeta = {
  summary: 'Verify the seals of the newest audit entries',
  response: VerificationSchema,
  responseName: 'AuditVerification',
  read: verifyEntries,
} as const;

export const auditRoutes: readonly Route[] = [
  { ...reading, ...listMeta, operationId: 'listAuditEntries', path: 'developer_api_audit_entries' },
  { ...reading, ...verifyMeta, operationId: 'verifyAuditTrail', path: 'developer_api_audit_entries/verify' },
];

/** The console shows the trail of the organization, whichever application is chosen. */
const consoleMeta = { method: 'GET', role: 'viewer', level: 'organization' } as const;

export const auditConsoleRoutes: readonly ConsoleRoute[] = [
  { ...consoleMeta, ...listMeta, query: ConsoleAuditQuery, operationId: 'listAudit', path: 'audit' },
  {
    ...consoleMeta,
    operationId: 'listAuditValues',
    path: 'audit/values',
    summary: 'List the actors and actions of the newest audit entries, for filters',
    query: ValuesQuery,
    response: ValuesSchema,
    responseName: 'AuditValues',
    read: async ({ reader, principal, query }) => {
      const { actors, actions } = await findRecentValues(
        reader,
        principal.orgId,
        (query as Static<typeof ValuesQuery>).kind,
      );
      return {
        object: 'audit_values',
        sandbox: true,
        status: 'ok',
        actors: actors.map((actor) => presentActor(actor, principal)),
        actions: [...actions],
      };
    },
  },
  { ...consoleMeta, ...verifyMeta, operationId: 'verifyAudit', path: 'audit/verification' },
];
