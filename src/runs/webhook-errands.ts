import type { AddressGuard } from '../delivery/address-guard.ts';
import { type Deliverer, leaseMs } from '../delivery/deliverer.ts';
import { destinationOf } from '../delivery/destination.ts';
import type { ClaimedDelivery } from '../delivery/queue.ts';
import { belongsTo, newWebhookSecret } from '../delivery/signature.ts';
import type { Engine } from '../engine/engine.ts';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import { type Answer, refusedCommand, type Submission } from '../engine/submission.ts';
import type { Vault } from '../engine/vault.ts';
import { reachesApplication } from '../kernel/command.ts';
import { refuse } from '../kernel/errors.ts';
import type { EventRow } from '../kernel/event.ts';
import { formatId, isId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { replayEvent } from '../resources/events/commands.ts';
import { findEvent, findWanting } from '../resources/events/store.ts';
import { findDelivery } from '../resources/webhooks/delivery-store.ts';
import type { DeliveryRow } from '../resources/webhooks/delivery-table.ts';
import { presentDeliveryDetail } from '../resources/webhooks/delivery-views.ts';
import {
  createWebhook,
  rotateSecret,
  updateWebhook,
  type WebhookFields,
} from '../resources/webhooks/machine.ts';
import {
  type CreateReplay,
  createReplay,
  type Pair,
  type Window,
} from '../resources/webhooks/replay-machine.ts';
import { findNewestEvent, findPairs, findUnfinishedReplay } from '../resources/webhooks/replay-store.ts';
import { findWebhooks } from '../resources/webhooks/store.ts';
import { type WebhookRow, webhooksTable } from '../resources/webhooks/table.ts';
import { type BeginTest, beginTest, concludeTest } from '../resources/webhooks/test-event-commands.ts';

export interface WebhookErrandsSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly deliverer: Deliverer;
  readonly wallClock: () => Instant;
}

export type Errand = (submission: Submission) => Promise<Answer>;

const dryRunMsMax = 20_000;
const firstStepMsMax = 2_000;

/**
 * What must be found out or made before a command can be decided, because deciding is pure: whether a URL may be sent to, a
 * new secret, which endpoints want an event. And the one errand that goes out in the middle, the test.
 */
export function webhookErrands(settings: WebhookErrandsSettings): ReadonlyMap<string, Errand> {
  const { engine, reader, vault, guard, deliverer, wallClock } = settings;

  const mutex = new KeyedMutex();

  function secretFor(orgId: string, webhookId: string, given: string | undefined) {
    const secret = given ?? newWebhookSecret();
    return { secret, sealed: vault.seal(secret, belongsTo(orgId, webhookId)) };
  }

  const create: Errand = async (submission) => {
    const { fields, secret } = submission.input as { fields: WebhookFields; secret?: string };
    const { orgId, appId, suffix } = submission.context;
    const urlProblem = await guard.problemOf(fields.url);
    const made = secretFor(orgId, formatId('webhook', suffix), secret);
    // One after the other, so that each counts those before it. Nodes do not wait for each other: the limit may be passed by a few.
    return mutex.run(appId ?? '', async () => {
      const own = await findWebhooks(reader, orgId, appId ?? '');
      const othersAtHost = atSameHost(own, fields.url);
      const input = { fields, ...made, urlProblem, others: own.length, othersAtHost };
      return engine.submit({ ...submission, input });
    });
  };

  const update: Errand = async (submission) => {
    const { id, fields } = submission.input as { id: string; fields: Partial<WebhookFields> };
    const { url } = fields;
    if (url === undefined)
      return engine.submit({ ...submission, input: { id, fields, urlProblem: null, othersAtHost: 0 } });
    const urlProblem = await guard.problemOf(url);
    const row = await findWebhook(submission.context, id);
    return mutex.run(row?.appId ?? '', async () => {
      const own = row && (await findWebhooks(reader, row.orgId, row.appId));
      // An endpoint may stay at its host, however many are there.
      const stays = row !== undefined && atSameHost([row], url) > 0;
      const othersAtHost = stays ? 0 : atSameHost(own ?? [], url);
      return engine.submit({ ...submission, input: { id, fields, urlProblem, othersAtHost } });
    });
  };

  const rotate: Errand = async (submission) => {
    const { id, secret, ...rest } = submission.input as { id: string; secret?: string };
    const made = secretFor(submission.context.orgId, id, secret);
    return engine.submit({ ...submission, input: { ...rest, id, ...made } });
  };

  const test: Errand = async (submission) => {
    const asked = submission.input as Pick<BeginTest, 'id'> & { event?: BeginTest['event'] };
    const input: BeginTest = {
      id: asked.id,
      event: asked.event ?? null,
      leaseUntil: wallClock() + leaseMs,
    };
    const begun = await engine.submit({ ...submission, input });
    if (begun.code !== null || begun.isReplay) return begun;
    const { test: made } = JSON.parse(begun.body) as { test: Begun };
    await deliverer.deliver(claimOf(made));
    const found = await findDelivery(reader, made.delivery.orgId, made.delivery.id);
    if (!found) {
      // It was made, so the organization was reset while the receiver was asked.
      const refusal = refuse('resource_not_found', { message: 'The organization was reset meanwhile.' });
      const kind = refusedCommand(submission.kind.name, refusal);
      const suffix = engine.idGenerator.stepSuffixes(submission.context.suffix).bookkeeping();
      return engine.submit({ ...submission, kind, context: { ...submission.context, suffix } });
    }
    const shown = presentDeliveryDetail(found.delivery, found.event, found.attempts);
    return engine.submit({
      ...submission,
      kind: concludeTest,
      input: { deliveryId: made.delivery.id, shown },
      // Every command has a row of its own in the audit trail, whichever request it belongs to.
      context: {
        ...submission.context,
        suffix: engine.idGenerator.stepSuffixes(submission.context.suffix).next(),
      },
    });
  };

  const replayOne: Errand = async (submission) => {
    const { id, webhookId } = submission.input as { id: string; webhookId?: string };
    const { orgId } = submission.context;
    const found = isId('event', id) ? await findEvent(reader, orgId, id) : undefined;
    const event = found && reachesApplication(submission.context, found.appId) ? found : undefined;
    const wanted = event && (await targetsOf(event, webhookId, submission.context));
    const rowSuffix = engine.idGenerator.rowSuffixes(submission.context.suffix);
    const targets = wanted?.map((target) => ({ ...target, suffix: rowSuffix() }));
    return engine.submit({ ...submission, input: { event, targets } });
  };

  async function targetsOf(event: EventRow, webhookId: string | undefined, context: Submission['context']) {
    if (webhookId !== undefined) {
      const named = await findWebhook(context, webhookId);
      return named && [{ webhookId, appId: named.appId }];
    }
    const wanting = await findWanting(reader, event.orgId, event.id);
    return wanting.map((id) => ({ webhookId: id, appId: event.appId }));
  }

  async function findWebhook(context: Submission['context'], id: string): Promise<WebhookRow | undefined> {
    const row = isId('webhook', id) ? await reader.byKey(webhooksTable, context.orgId, id) : undefined;
    return row && reachesApplication(context, row.appId) ? row : undefined;
  }

  const replayWindow: Errand = async (submission) => {
    const { window, isDryRun } = submission.input as { window: Window; isDryRun: boolean };
    const { orgId, appId: asking } = submission.context;
    const webhook =
      window.webhookId === null ? null : await findWebhook(submission.context, window.webhookId);
    const appId = webhook === null ? (asking ?? undefined) : webhook?.appId;
    // Requests of one application run one after the other, so that each sees the replay of the one before it.
    return isDryRun
      ? replayOf(submission, appId, null)
      : mutex.run(`replay ${appId}`, async () =>
          replayOf(submission, appId, (appId && (await findUnfinishedReplay(reader, orgId, appId))) ?? null),
        );
  };

  async function replayOf(
    submission: Submission,
    appId: string | undefined,
    unfinishedId: string | null,
  ): Promise<Answer> {
    const { window, isDryRun } = submission.input as { window: Window; isDryRun: boolean };
    const { orgId } = submission.context;
    const last = await findNewestEvent(reader, orgId);
    const pairs: Pair[] = [];
    let [cursor, isLast, matched] = ['', appId === undefined || unfinishedId !== null, 0];
    const rowSuffix = engine.idGenerator.rowSuffixes(submission.context.suffix);
    const until = performance.now() + (isDryRun ? dryRunMsMax : firstStepMsMax);
    while (appId !== undefined && !isLast && performance.now() < until) {
      if (pairs.length > limits.replayStepMax / 2) break;
      const pairsMax = limits.replayStepMax - pairs.length;
      const look = await findPairs(reader, orgId, appId, window, { after: cursor, last, pairsMax });
      if (!isDryRun) for (const pair of look.pairs) pairs.push({ ...pair, suffix: rowSuffix() });
      matched += look.pairs.length;
      cursor = look.cursor;
      isLast = look.isLast;
    }
    const step = { pairs, cursor, isLast };
    const input: CreateReplay = { window, isDryRun, appId, lastEventId: last, step, matched, unfinishedId };
    return engine.submit({ ...submission, input });
  }

  return new Map([
    [createWebhook.name, create],
    [updateWebhook.name, update],
    [rotateSecret.name, rotate],
    [beginTest.name, test],
    [replayEvent.name, replayOne],
    [createReplay.name, replayWindow],
  ]);
}

/** Endpoints that lead to the same host as a URL. There are none for a URL that cannot be read, or that is on loopback. */
function atSameHost(endpoints: readonly Pick<WebhookRow, 'url'>[], url: string): number {
  if (!URL.canParse(url)) return 0;
  const { key, isLoopback } = destinationOf(url);
  return isLoopback ? 0 : endpoints.filter((one) => destinationOf(one.url).key === key).length;
}

interface Begun {
  readonly webhook: WebhookRow;
  readonly event: EventRow;
  readonly delivery: DeliveryRow;
}

/** The delivery of a test was born claimed, by the clock as it stood when it was decided. */
function claimOf({ webhook, event, delivery }: Begun): ClaimedDelivery {
  return {
    ...delivery,
    url: webhook.url,
    secrets: webhook.secrets,
    retryProfile: webhook.retryProfile,
    concurrencyMax: webhook.concurrencyMax,
    type: event.type,
    sequence: event.sequence,
    requestId: event.requestId,
    data: event.data,
    eventAt: event.createdAt,
    offsetMs: null,
    frozenAt: delivery.createdAt,
    advanceRequestId: null,
    fault: null,
    faultPlans: null,
    heldUntil: null,
    isReordered: false,
    failingSince: null,
  };
}
