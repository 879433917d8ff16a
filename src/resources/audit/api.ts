import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { decodeCursor, encodeCursor, instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { pageQuery, strict, Time } from '../../kernel/schema.ts';
import { type SealVerification, verifySeals } from '../audit-seals/store.ts';
import { type AuditEntry, findAudit } from './store.ts';

const Text = Type.String({ minLength: 1, maxLength: 100 });

const AuditQuery = strict({
  ...pageQuery,
  actorId: Type.Optional(Text),
  action: Type.Optional(Text),
  resourceId: Type.Optional(Text),
  outcome: Type.Optional(Type.Enum(['accepted', 'refused'])),
  after: Type.Optional(Time),
  before: Type.Optional(Time),
});

/** For people who wait: some seconds of work at most. `sandbank verify` looks at everything. */
const rowsVerifiedMax = 200_000;

function presentAudit(row: AuditEntry): Presented {
  return {
    object: 'audit_entry',
    sandbox: true,
    status: row.outcome,
    id: row.id,
    at: instantToText(row.at),
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      name: row.actorName ?? (row.actorKind === 'system' ? row.actorId : null),
    },
    applicationId: row.appId,
    action: row.action,
    resource: row.resource,
    resourceId: row.resourceId,
    // Of the request that it tells of; the one that asks is named by the list.
    requestId: row.requestId,
    ip: row.ip,
    outcome: row.outcome,
    code: row.code,
  };
}

/** Verifications that run in this process, by organization: one at a time each, whose result concurrent requests share. */
const verifications = new Map<string, Promise<SealVerification>>();
// Each keeps one connection of the pool busy for a second or so.
const verificationsMax = 3;

export const auditRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listAudit',
    method: 'GET',
    path: 'audit',
    role: 'viewer',
    within: 'organization',
    summary: 'The audit trail, newest first; a page may be short or empty and still have more behind it',
    query: AuditQuery,
    read: async ({ reader, principal, query }) => {
      const { limit = limits.listLimitDefault, cursor, ...filter } = query as Static<typeof AuditQuery>;
      const before = cursor === undefined ? undefined : decodeCursor('audit', cursor);
      if (cursor !== undefined && before === undefined) return refuse('invalid_cursor', { param: 'cursor' });
      const { rows, next } = await findAudit(reader, principal.orgId, filter, before, limit);
      return {
        data: rows.map(presentAudit),
        hasMore: next !== null,
        nextCursor: next === null ? null : encodeCursor(next),
      };
    },
  },
  {
    operationId: 'verifyAudit',
    method: 'GET',
    path: 'audit/verification',
    role: 'viewer',
    within: 'organization',
    summary: 'Whether the newest part of the audit trail is what was sealed',
    read: async ({ reader, principal, now }) => {
      const running = verifications.get(principal.orgId);
      if (!running && verifications.size >= verificationsMax)
        return refuse('service_unavailable', {
          message: 'Other audit trails are being verified. Try again in a moment.',
          retryAfterSeconds: 2,
        });
      const verification = running ?? verifySeals(reader, principal.orgId, now, rowsVerifiedMax);
      if (!running) {
        verifications.set(principal.orgId, verification);
        const done = () => verifications.delete(principal.orgId);
        verification.then(done, done);
      }
      const { problems, last: _last, ...found } = await verification;
      return {
        object: 'audit_verification',
        sandbox: true,
        status: problems.length === 0 ? 'intact' : 'broken',
        ...found,
        problems,
        checkedAt: instantToText(now),
      };
    },
  },
];
