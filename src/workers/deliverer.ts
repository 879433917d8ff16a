import type { ClaimedDelivery, DeliveryQueue, EndpointKey, MarkedAttempt } from '../engine/delivery-queue.ts';
import type { Engine } from '../engine/engine.ts';
import { newSuffix } from '../engine/ids.ts';
import type { Vault } from '../engine/vault.ts';
import { clockNow } from '../kernel/clock.ts';
import { eventPayload } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { failingMsMax, waitAfter } from '../kernel/retry.ts';
import type { Instant } from '../kernel/table.ts';
import { defaultTerms } from '../kernel/terms.ts';
import { apiVersion } from '../kernel/version.ts';
import { type GiveUpWebhook, giveUpWebhook } from '../resources/webhooks/machine.ts';
import type { Outcome, Sender } from './sender.ts';
import { belongsTo, openSecrets, signedHeaders } from './signature.ts';

export interface DelivererSettings {
  readonly queue: DeliveryQueue;
  readonly engine: Engine;
  readonly sender: Sender;
  readonly vault: Vault;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

/** Twice what an attempt may take, and some. DESIGN gives a killed process 30 s until its deliveries are free again. */
export const leaseMs = 25_000;
const inFlightMax = 1_000;
const endpointsInClaimMax = 200;
const marksMax = 256;
const markAttemptsMax = 20;
const markPauseMs = 250;
const graceMsMax = 2_000;

const unsigned: Outcome = {
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  durationMs: 0,
  error: 'Signature: the secret of the endpoint was encrypted with another SANDBANK_SECRET. Rotate it.',
  retryAfterSeconds: 0,
};

interface Done {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
  readonly resolve: () => void;
}

/**
 * Sends what is due. An endpoint is wanted when somebody says that it may have something due; a claim takes of it as much as
 * its limit leaves; every delivery is sent at once; what came of it is marked, many in one go. An endpoint whose claim was
 * full is wanted again as soon as one of its deliveries is marked.
 *
 * Every endpoint has a queue and a limit of its own, so one that hangs fills its own limit and nobody else's. A process that
 * dies leaves leases behind, and whoever claims them after their end sends again: at least once, under the same event id.
 */
export class Deliverer {
  readonly #settings: DelivererSettings;
  readonly #wanted = new Map<string, EndpointKey>();
  readonly #full = new Set<string>();
  readonly #sending = new Map<string, ClaimedDelivery>();
  readonly #waiters = new Map<string, (() => void)[]>();
  #done: Done[] = [];
  #isClaiming = false;
  #isMarking = false;
  #isScheduled = false;
  #isStopping = false;

  constructor(settings: DelivererSettings) {
    this.#settings = settings;
  }

  /** This endpoint may have something due. */
  wake(endpoint: EndpointKey): void {
    this.#wanted.set(keyOf(endpoint), endpoint);
    this.#schedule();
  }

  /** Resolves when something of the application has been marked next. */
  nextMark(appId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(appId) ?? [];
      waiters.push(resolve);
      this.#waiters.set(appId, waiters);
    });
  }

  /** One turn of the event loop later: what is committed together is claimed together. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClaiming || this.#isStopping || this.#wanted.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#claim();
    });
  }

  async #claim(): Promise<void> {
    const { queue, wallClock, onError } = this.#settings;
    const room = Math.min(limits.webhookConcurrencyMax, inFlightMax - this.#sending.size);
    if (room <= 0 || this.#isStopping) return;
    const endpoints = [...this.#wanted.values()].slice(0, endpointsInClaimMax);
    for (const endpoint of endpoints) this.#wanted.delete(keyOf(endpoint));
    this.#isClaiming = true;
    try {
      const now = wallClock();
      const claims = await queue.claim(
        endpoints.map((endpoint) => ({ ...endpoint, room })),
        now,
        now + leaseMs,
      );
      for (const claim of claims) {
        if (claim.isFull) this.#full.add(keyOf(claim));
        void this.deliver(claim);
      }
    } catch (error) {
      onError(error, 'deliveries were not claimed');
    }
    this.#isClaiming = false;
    this.#schedule();
  }

  /** Sends what this process has claimed; resolves when what came of it is marked. */
  async deliver(claim: ClaimedDelivery): Promise<void> {
    const { orgId, id, token } = claim;
    const key = `${orgId} ${id} ${token}`;
    this.#sending.set(key, claim);
    try {
      const attempt = await this.#attempt(claim);
      if (!attempt) return;
      await new Promise<void>((resolve) => {
        this.#done.push({ claim, attempt, resolve });
        void this.#mark();
      });
    } finally {
      this.#sending.delete(key);
    }
  }

  async #attempt(claim: ClaimedDelivery): Promise<MarkedAttempt | undefined> {
    const { vault, sender, wallClock } = this.#settings;
    const { orgId, webhookId, eventId, url } = claim;
    const sentAt = wallClock();
    const at = appTime(claim, sentAt);
    const payload = eventPayload({ ...claim, id: eventId, createdAt: claim.eventAt });
    const secrets = openSecrets(vault, claim.secrets, belongsTo(orgId, webhookId), at);
    const requestHeaders = {
      'content-type': 'application/json',
      'user-agent': `Sandbank/${apiVersion}`,
      'accept-encoding': 'identity',
      ...(secrets && signedHeaders(secrets, { eventId, payload, sentAt })),
    };
    const outcome = secrets ? await sender.send(url, requestHeaders, payload, wallClock) : unsigned;
    if (!outcome) return undefined;
    const { retryAfterSeconds, ...shown } = outcome;
    const isDelivered = shown.error === null;
    const profile = claim.trigger === 'test' ? 'none' : claim.retryProfile;
    const wait = isDelivered ? null : waitAfter(profile, claim.tries + 1, retryAfterSeconds, Math.random());
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
      requestHeaders,
      ...shown,
      requestId: claim.advanceRequestId,
    };
  }

  /** One statement for all that has come meanwhile. While the database is away it is tried again, until the leases end. */
  async #mark(): Promise<void> {
    if (this.#isMarking) return;
    this.#isMarking = true;
    while (this.#done.length > 0) {
      const batch = this.#done.splice(0, marksMax);
      await this.#giveUpOn(batch);
      await this.#markBatch(batch);
      for (const { resolve } of batch) resolve();
      this.#goOn(batch);
    }
    this.#isMarking = false;
  }

  async #markBatch(batch: readonly Done[]): Promise<void> {
    const { queue, onError } = this.#settings;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await queue.mark(batch.map((done) => done.attempt));
        return;
      } catch (error) {
        onError(error, 'deliveries were not marked');
        if (attempt >= markAttemptsMax || this.#isStopping) return;
        await new Promise((resolve) => setTimeout(resolve, markPauseMs));
      }
    }
  }

  #goOn(batch: readonly Done[]): void {
    for (const { claim, attempt } of batch) {
      // While a clock is on its way, the next attempt may be due by it already.
      const isDueAgain = attempt.status === 'pending' && claim.advanceRequestId !== null;
      if (this.#full.delete(keyOf(claim)) || isDueAgain) this.#wanted.set(keyOf(claim), claim);
      for (const resolve of this.#waiters.get(claim.appId)?.splice(0) ?? []) resolve();
      this.#waiters.delete(claim.appId);
    }
    this.#schedule();
  }

  /**
   * Endpoints that are beyond hope are disabled before the attempt is marked: whoever waits until nothing is left to send
   * then also sees what this has to tell.
   */
  async #giveUpOn(batch: readonly Done[]): Promise<void> {
    const hopeless = new Map<string, () => Promise<void>>();
    const alive = new Set(
      batch.flatMap(({ claim, attempt }) => (attempt.error === null ? [keyOf(claim)] : [])),
    );
    for (const { claim, attempt } of batch) {
      const { failingSince } = claim;
      const isOver = failingSince !== null && attempt.at - failingSince >= failingMsMax;
      if (attempt.responseStatus === 410)
        hopeless.set(keyOf(claim), () => this.#giveUp(claim, 'gone', attempt.at));
      else if (isOver && !alive.has(keyOf(claim)))
        hopeless.set(keyOf(claim), () => this.#giveUp(claim, 'failing', failingSince));
    }
    await Promise.all([...hopeless.values()].map((giveUp) => giveUp()));
  }

  async #giveUp(
    { orgId, appId, webhookId }: ClaimedDelivery,
    reason: GiveUpWebhook['reason'],
    failingSince: Instant,
  ): Promise<void> {
    const suffix = newSuffix();
    const answer = await this.#settings.engine.submit({
      kind: giveUpWebhook,
      input: { id: webhookId, reason, failingSince } satisfies GiveUpWebhook,
      idempotency: null,
      wallNow: this.#settings.wallClock(),
      context: {
        orgId,
        appId,
        terms: defaultTerms,
        actor: { kind: 'system', id: 'deliveries' },
        requestId: formatId('request', suffix),
        ip: null,
        suffix,
      },
    });
    if (answer.code !== null)
      this.#settings.onError(new Error(answer.body), `${webhookId} was not disabled (${reason})`);
  }

  /** Claims nothing more. What is under way has a moment to end; the rest is left to the next process. */
  async stop(): Promise<void> {
    const { sender, queue, onError } = this.#settings;
    this.#isStopping = true;
    const until = performance.now() + graceMsMax;
    const isBusy = () => this.#sending.size > 0 || this.#isMarking || this.#isClaiming;
    while (isBusy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    const left = [...this.#sending.values()];
    await sender.stop();
    if (left.length > 0)
      await queue.abandon(left).catch((error: unknown) => onError(error, 'deliveries were not given back'));
  }
}

/**
 * What time it is for an attempt, by the clock of its application. While the clock is on its way somewhere, an attempt is made
 * at the very instant at which it fell due, as everything else that an advance brings about.
 */
function appTime(claim: ClaimedDelivery, wallNow: Instant): Instant {
  const { advanceRequestId, dueAt, createdAt, offsetMs, standsAt } = claim;
  if (advanceRequestId !== null) return Math.max(dueAt, createdAt);
  return clockNow({ offsetMs: offsetMs ?? 0n, standsAt }, wallNow);
}

function keyOf({ orgId, webhookId }: EndpointKey): string {
  return `${orgId} ${webhookId}`;
}
