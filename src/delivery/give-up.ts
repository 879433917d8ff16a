import type { Engine } from '../engine/engine.ts';
import { systemCommand } from '../engine/system-command.ts';
import { failingMsMax } from '../kernel/retry.ts';
import type { Instant } from '../kernel/table.ts';
import { type GiveUpWebhook, giveUpWebhook } from '../resources/webhooks/machine.ts';
import type { DeliveryMeasures } from '../telemetry/ports.ts';
import type { ClaimedDelivery, MarkedAttempt } from './queue.ts';

export interface GiveUpSettings {
  readonly engine: Engine;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: DeliveryMeasures | undefined;
}

interface Attempted {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
}

/** Disables the endpoints that are beyond hope: whose receiver is gone, or that nothing but failure came of for days. */
export async function giveUpHopeless(batch: readonly Attempted[], settings: GiveUpSettings): Promise<void> {
  const alive = new Set(
    batch.flatMap(({ claim, attempt }) => (attempt.error === null ? [claim.webhookId] : [])),
  );
  const hopeless = new Map<string, GiveUpWebhook & Pick<ClaimedDelivery, 'orgId' | 'appId'>>();
  for (const { claim, attempt } of batch) {
    const { orgId, appId, webhookId, failingSince } = claim;
    const isOver = failingSince !== null && attempt.at - failingSince >= failingMsMax;
    if (attempt.responseStatus === 410)
      hopeless.set(webhookId, { orgId, appId, id: webhookId, reason: 'gone', failingSince: attempt.at });
    else if (isOver && !alive.has(webhookId))
      hopeless.set(webhookId, { orgId, appId, id: webhookId, reason: 'failing', failingSince });
  }
  await Promise.all([...hopeless.values()].map((one) => giveUp(one, settings)));
}

async function giveUp(
  { orgId, appId, ...input }: GiveUpWebhook & Pick<ClaimedDelivery, 'orgId' | 'appId'>,
  { engine, wallClock, onError, measures }: GiveUpSettings,
): Promise<void> {
  const answer = await engine.submit(
    systemCommand(
      giveUpWebhook,
      input,
      { orgId, appId },
      'deliveries',
      wallClock(),
      engine.idGenerator.background(orgId),
    ),
  );
  if (answer.code === null) measures?.disabled(input.reason);
  else onError(new Error(answer.body), `${input.id} was not disabled (${input.reason})`);
}
