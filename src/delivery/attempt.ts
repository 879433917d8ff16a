import type { Engine } from '../engine/engine.ts';
import type { Vault } from '../engine/vault.ts';
import { clockNow } from '../kernel/clock.ts';
import { apiVersion } from '../kernel/envelope.ts';
import { eventPayload } from '../kernel/event.ts';
import { idTimestamp } from '../kernel/ids.ts';
import { waitAfter } from '../kernel/retry.ts';
import type { Instant } from '../kernel/table.ts';
import type { DeliveryMeasures, DeliveryTracing, TracedAttempt } from '../telemetry/ports.ts';
import type { ClaimedDelivery, CopiedAttempt, MarkedAttempt } from './queue.ts';
import type { Outcome, Sender } from './sender.ts';
import { belongsTo, openSecrets, signedHeaders } from './signature.ts';

/** Who watches the attempts; undefined where nobody does. */
export interface Watching {
  readonly measures?: DeliveryMeasures | undefined;
  readonly tracing?: DeliveryTracing | undefined;
}

export interface AttemptSettings extends Watching {
  readonly sender: Sender;
  readonly vault: Vault;
  readonly wallClock: () => Instant;
  /**
   * The real time, also on a server whose wall clock stands still by a seed: receivers refuse old timestamps, and the dates that
   * they answer with are real.
   */
  readonly realTime: () => Instant;
  readonly engine: Pick<Engine, 'idGenerator'>;
}

const unsigned: Outcome = {
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  durationMs: 0,
  error: 'Signature: the secret of the endpoint was encrypted with another SANDBANK_SECRET. Rotate it.',
  retryAfterSeconds: 0,
};

function dropped(planId: string | null): Outcome {
  return { ...unsigned, error: `Fault plan ${planId}: dropped` };
}

/** Signs and sends one delivery, and says where it stands afterwards. Undefined when it was cut short by a stop. */
export async function attemptDelivery(
  claim: ClaimedDelivery,
  settings: AttemptSettings,
): Promise<MarkedAttempt | undefined> {
  const { measures, tracing, wallClock } = settings;
  const span = tracing?.attempt(tracedAttempt(claim));
  const attempt = await carryOut(claim, settings, span?.traceparent).catch((error: unknown) => {
    span?.end({}, 'fault');
    throw error;
  });
  span?.end(
    attempt?.responseStatus ? { 'http.response.status_code': attempt.responseStatus } : {},
    attempt?.error === null ? undefined : problemOf(attempt),
  );
  if (!measures || !attempt) return attempt;
  measures.attempted(
    attempt.status === 'pending' ? 'retrying' : attempt.status === 'succeeded' ? 'succeeded' : 'failed',
    attempt.durationMs / 1_000,
  );
  const isNew = claim.trigger === 'event' && claim.attempts === 0 && attempt.error === null;
  if (isNew) measures.arrived(Math.max(0, wallClock() - idTimestamp(claim.eventId)) / 1_000);
  return attempt;
}

function tracedAttempt(claim: ClaimedDelivery): TracedAttempt {
  return {
    requestId: claim.requestId,
    eventType: claim.type,
    host: new URL(claim.url).hostname,
    fields: {
      'sandbank.organization_id': claim.orgId,
      'sandbank.event_id': claim.eventId,
      'sandbank.delivery_id': claim.id,
      'sandbank.webhook_id': claim.webhookId,
      'sandbank.attempt': claim.attempts + 1,
    },
  };
}

/** The word before the colon says what it was; what comes behind it may repeat what a receiver said. */
function problemOf(attempt: MarkedAttempt | undefined): string {
  return attempt?.error?.split(':')[0] ?? 'Stopped';
}

async function carryOut(
  claim: ClaimedDelivery,
  { sender, vault, wallClock, realTime, engine }: AttemptSettings,
  traceparent: string | undefined,
): Promise<MarkedAttempt | undefined> {
  const { orgId, webhookId, eventId, url } = claim;
  const sentAt = wallClock();
  const at = appTime(claim, sentAt);
  const payload = eventPayload({ ...claim, id: eventId, createdAt: claim.eventAt });
  const secrets = openSecrets(vault, claim.secrets, belongsTo(orgId, webhookId), sentAt);
  const requestHeaders = {
    'content-type': 'application/json',
    'user-agent': `Sandbank/${apiVersion}`,
    'accept-encoding': 'identity',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(secrets && signedHeaders(secrets, { eventId, payload, signedAt: realTime() })),
  };
  const send = () => (secrets ? sender.send(url, requestHeaders, payload, realTime) : unsigned);
  // A plan hits the first attempt and no other.
  const fault = claim.attempts === 0 ? claim.fault : null;
  const copies: CopiedAttempt[] = [];
  for (let left = fault?.type === 'duplicate' ? fault.copies : 0; left > 0; left -= 1) {
    const copy = await send();
    if (!copy) return undefined;
    const { retryAfterSeconds: _, ...kept } = copy;
    copies.push(kept);
  }
  const outcome = fault?.type === 'drop' ? dropped(claim.faultPlanId) : await send();
  if (!outcome) return undefined;
  const { retryAfterSeconds, ...shown } = outcome;
  const isDelivered = shown.error === null;
  const spread = engine.idGenerator.fraction(`${claim.id} ${claim.attempts}`);
  const profile = claim.trigger === 'test' ? 'none' : claim.retryProfile;
  const wait = isDelivered ? null : waitAfter(profile, claim.tries + 1, retryAfterSeconds, spread);
  return {
    orgId,
    deliveryId: claim.id,
    webhookId,
    token: claim.token,
    number: claim.attempts + 1,
    status: isDelivered ? 'succeeded' : wait === null ? 'failed' : 'pending',
    dueAt: appTime(claim, wallClock()) + (wait ?? 0),
    at,
    sentAt,
    requestHeaders: fault?.type === 'drop' ? null : requestHeaders,
    ...shown,
    requestId: claim.advanceRequestId,
    faultPlanId: claim.attempts === 0 ? claim.faultPlanId : null,
    copies,
  };
}

/**
 * What time it is for an attempt, by the clock of its application. While the clock is on its way somewhere, an attempt is made
 * at the very instant at which it fell due, as everything else that an advance brings about.
 */
export function appTime(claim: ClaimedDelivery, wallNow: Instant): Instant {
  const { advanceRequestId, dueAt, createdAt, offsetMs, frozenAt } = claim;
  if (advanceRequestId !== null) return Math.max(dueAt, createdAt);
  return clockNow({ offsetMs: offsetMs ?? 0n, frozenAt }, wallNow);
}
