import type { FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import { refusedCommand } from '../engine/submission.ts';
import type { ErrorCode, Refusal } from '../kernel/errors.ts';
import { idPrefixes } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { requestIdOf } from './request-id.ts';

export interface TrailSettings {
  readonly engine: Engine;
  readonly wallClock: () => Instant;
}

// Load shedding must stay cheap, and server failures are in the log.
const unaudited: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'internal_error', 'service_unavailable']);

export function isAuditedCode(code: ErrorCode): boolean {
  return !unaudited.has(code);
}

/** Audits a refusal of a route that is not in the route table. A caller that is not a member leaves no trace there. */
export async function auditRefusal(
  { engine, wallClock }: TrailSettings,
  request: FastifyRequest,
  command: string,
  refusal: Refusal,
): Promise<void> {
  const { principal } = request;
  if (!principal || !isAuditedCode(refusal.code)) return;
  const { orgId, appId, settings, actor } = principal;
  // The request may already have a row.
  const suffix = engine.idGenerator.stepSuffixes(request.id.slice(idPrefixes.request.length + 1)).next();
  await engine.submit({
    context: {
      ...{ orgId, appId: appId || null, settings, actor },
      requestId: requestIdOf(request),
      ip: request.ip,
      suffix,
    },
    idempotency: null,
    target: { resource: 'organization', id: orgId, isClaimed: false },
    kind: refusedCommand(command, refusal),
    input: undefined,
    wallNow: wallClock(),
  });
}
