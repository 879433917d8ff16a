import type { Engine } from '../engine/engine.ts';
import type { Vault } from '../engine/vault.ts';
import { attemptError } from '../kernel/attempt-errors.ts';
import { apiVersion } from '../kernel/envelope.ts';
import { eventPayload } from '../kernel/event.ts';
import { type Id, idTimestamp } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { clockNow } from '../kernel/time.ts';
import type { DeliveryMeasures, DeliveryTracing, TracedAttempt } from '../telemetry/ports.ts';
import { openHeaders, redactHeaders } from './custom-headers.ts';
import type { ClaimedDelivery, CopiedAttempt, MarkedAttempt } from './queue.ts';
import { waitAfter } from './retry.ts';
import type { Outcome, Sender } from './sender.ts';
import { belongsTo, openSecrets, signedHeaders } from './signature.ts';

/** Metrics and traces of attempts; undefined when telemetry is off. */
interface AttemptTelemetry {
  readonly measures?: DeliveryMeasures | undefined;
  readonly tracing?: DeliveryTracing | undefined;
}

export interface AttemptSettings extends AttemptTelemetry {
  readonly sender: Sender;
  readonly vault: Vault;
  readonly wallClock: () => Instant;
  /**
   * The real time, even on a seeded server, whose wall clock is frozen: receivers reject old timestamps, and the dates in their
   * responses are real.
   */
  readonly realTime: () => Instant;
  readonly engine: Pick<Engine, 'idGenerator'>;
}

const unsigned: Outcome = {
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  durationMs: 0,
  error: attemptError(
    'signature',
    'the endpoint secret was encrypted with another SANDBANK_SECRET. Rotate it, and set custom headers again.',
  ),
  retryAfterSeconds: 0,
};

function dropped(planId: Id<'fault_plan'> | null): Outcome {
  return { ...unsigned, error: `Fault plan ${planId}: dropped` };
}

/** Signs and sends one delivery, and returns its new state. Undefined when the sender stopped before the attempt completed. */
export async function attemptDelivery(
  claim: ClaimedDelivery,
  settings: AttemptSettings,
): Promise<MarkedAttempt | undefined> {
  const { measures, tracing, wallClock } = settings;
  const span = tracing?.attempt(tracedAttempt(claim));
  const attempt = await sendAttempt(claim, settings, span?.traceparent).catch((error: unknown) => {
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

/** The part before the colon is the kind of error. The rest may contain text from the receiver, so it stays out of traces. */
function problemOf(attempt: MarkedAttempt | undefined): string {
  return attempt?.error?.split(':')[0] ?? 'Stopped';
}

async function sendAttempt(
  claim: ClaimedDelivery,
  { sender, vault, wallClock, realTime, engine }: AttemptSettings,
  traceparent: string | undefined,
): Promise<MarkedAttempt | undefined> {
  const { orgId, webhookId, eventId } = claim;
  const sentAt = wallClock();
  const at = appTime(claim, sentAt);
  const { requestId, type, sequence, data, eventAt: createdAt } = claim;
  const payload = eventPayload({ id: eventId, requestId, type, sequence, data, createdAt });
  const secrets = openSecrets(vault, claim.secrets, belongsTo(orgId, webhookId), sentAt);
  const custom = openHeaders(vault, claim.headers, orgId, webhookId);
  const ownHeaders = {
    'content-type': 'application/json',
    'user-agent': `Sandbank/${apiVersion}`,
    'accept-encoding': 'identity',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(secrets && signedHeaders(secrets, { eventId, payload, signedAt: realTime() })),
  };
  const send = () =>
    secrets && custom ? sender.send(claim, { ...custom, ...ownHeaders }, payload, realTime) : unsigned;
  // A fault plan affects only the first attempt.
  const fault = claim.attempts === 0 ? claim.fault : null;
  const copies: CopiedAttempt[] = [];
  for (let remaining = fault?.type === 'duplicate' ? fault.copies : 0; remaining > 0; remaining -= 1) {
    const copy = await send();
    if (!copy) return undefined;
    const { retryAfterSeconds: _, ...copied } = copy;
    copies.push(copied);
  }
  const outcome = fault?.type === 'drop' ? dropped(claim.faultPlanId) : await send();
  if (!outcome) return undefined;
  const { retryAfterSeconds, ...response } = outcome;
  const isDelivered = response.error === null;
  const wait = isDelivered ? null : retryWait(claim, retryAfterSeconds, engine);
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
    requestHeaders: fault?.type === 'drop' ? null : { ...redactHeaders(custom ?? {}), ...ownHeaders },
    ...response,
    requestId: claim.advanceRequestId,
    faultPlanId: claim.attempts === 0 ? claim.faultPlanId : null,
    copies,
  };
}

/** Milliseconds until the next attempt after a failed one, or null when there is none. */
function retryWait(
  { id, attempts, tries, trigger, retryProfile }: ClaimedDelivery,
  retryAfterSeconds: number,
  engine: AttemptSettings['engine'],
): number | null {
  const jitter = engine.idGenerator.fraction(`${id} ${attempts}`);
  return waitAfter(trigger === 'test' ? 'none' : retryProfile, tries + 1, retryAfterSeconds, jitter);
}

/**
 * The application time of an attempt. While the application clock is being advanced, an attempt happens exactly when it is due,
 * like every other effect of an advance.
 */
export function appTime(claim: ClaimedDelivery, wallNow: Instant): Instant {
  const { advanceRequestId, dueAt, createdAt, offsetMs, frozenAt } = claim;
  if (advanceRequestId !== null) return Math.max(dueAt, createdAt);
  return clockNow({ offsetMs: offsetMs ?? 0n, frozenAt }, wallNow);
}
