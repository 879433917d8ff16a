import { type Deliverer, leaseMs } from '../delivery/deliverer.ts';
import type { ClaimedDelivery } from '../delivery/queue.ts';
import type { Engine } from '../engine/engine.ts';
import { refusedCommand } from '../engine/submission.ts';
import type { Answer, CommandRequest } from '../kernel/command.ts';
import { refuse } from '../kernel/errors.ts';
import type { Runs } from '../kernel/prepare.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findDelivery } from '../resources/webhooks/delivery-store.ts';
import { presentDeliveryDetail } from '../resources/webhooks/delivery-views.ts';
import { type BegunTest, beginTest, concludeTest } from '../resources/webhooks/test-event-commands.ts';
import { begunWith, drive, type Outcome, type Run } from './run.ts';

export interface WebhookTestSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly deliverer: Deliverer;
  readonly wallClock: () => Instant;
}

type Requested = Parameters<Runs['testWebhook']>[0];

/** Sends one event to an endpoint and returns the delivery and its attempt. */
export function testWebhook(settings: WebhookTestSettings): Runs['testWebhook'] {
  return (requested, request) => drive(webhookTestRun(settings, requested, request));
}

function webhookTestRun(
  { engine, reader, deliverer, wallClock }: WebhookTestSettings,
  { id, event }: Requested,
  request: CommandRequest,
): Run<BegunTest> {
  const { context } = request;
  return {
    begin: async () => {
      const input = { id, event, leaseUntil: wallClock() + leaseMs };
      return begunWith(await engine.submit({ ...request, kind: beginTest, input }), (begun) => begun);
    },
    step: async (begun): Promise<Outcome<BegunTest>> => {
      await deliverer.deliver(claimOf(begun));
      return { value: begun };
    },
    finish: async ({ delivery }): Promise<Answer> => {
      const found = await findDelivery(reader, delivery.orgId, delivery.id);
      if (!found) {
        // The delivery was created, so the organization was reset during the call to the receiver.
        const refusal = refuse('resource_not_found', {
          message: 'The organization was reset in the meantime.',
        });
        const kind = refusedCommand(beginTest.name, refusal);
        const suffix = engine.idGenerator.stepSuffixes(context.suffix).bookkeeping();
        return engine.submit({ ...request, kind, input: undefined, context: { ...context, suffix } });
      }
      const shown = presentDeliveryDetail(found.delivery, found.event, found.attempts);
      return engine.submit({
        ...request,
        kind: concludeTest,
        input: { deliveryId: delivery.id, shown },
        // Every command has its own row in the audit trail, and therefore its own suffix.
        context: { ...context, suffix: engine.idGenerator.stepSuffixes(context.suffix).next() },
      });
    },
  };
}

/** A test delivery is already claimed when it is created, by the application clock at that time. */
function claimOf({ webhook, event, delivery }: BegunTest): ClaimedDelivery {
  return {
    ...delivery,
    url: webhook.url,
    isInbox: webhook.inbox !== null,
    secrets: webhook.secrets,
    headers: webhook.headers,
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
