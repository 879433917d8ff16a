import type { Engine } from '../engine/engine.ts';
import { systemCommand } from '../engine/system-command.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type DisableFailingWebhook,
  disableFailingWebhook,
  failingMsMax,
} from '../resources/webhooks/machine.ts';
import type { DeliveryMeasures } from '../telemetry/ports.ts';
import type { ClaimedDelivery, MarkedAttempt } from './queue.ts';

export interface DisableSettings {
  readonly engine: Engine;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: DeliveryMeasures | undefined;
}

interface CompletedAttempt {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
}

/** Disables endpoints whose receiver answers 410 Gone, or whose attempts have all failed for days. */
export async function disableFailingEndpoints(
  batch: readonly CompletedAttempt[],
  settings: DisableSettings,
): Promise<void> {
  const succeeded = new Set(
    batch.flatMap(({ claim, attempt }) => (attempt.error === null ? [claim.webhookId] : [])),
  );
  const toDisable = new Map<string, DisableFailingWebhook & Pick<ClaimedDelivery, 'orgId' | 'appId'>>();
  for (const { claim, attempt } of batch) {
    const { orgId, appId, webhookId, failingSince } = claim;
    const isPastLimit = failingSince !== null && attempt.at - failingSince >= failingMsMax;
    if (attempt.responseStatus === 410)
      toDisable.set(webhookId, { orgId, appId, id: webhookId, reason: 'gone', failingSince: attempt.at });
    else if (isPastLimit && !succeeded.has(webhookId))
      toDisable.set(webhookId, { orgId, appId, id: webhookId, reason: 'failing', failingSince });
  }
  await Promise.all([...toDisable.values()].map((endpoint) => disable(endpoint, settings)));
}

async function disable(
  { orgId, appId, ...input }: DisableFailingWebhook & Pick<ClaimedDelivery, 'orgId' | 'appId'>,
  { engine, wallClock, onError, measures }: DisableSettings,
): Promise<void> {
  const answer = await engine.submit(
    systemCommand(
      disableFailingWebhook,
      input,
      { orgId, appId },
      'deliveries',
      wallClock(),
      engine.idGenerator.background(orgId),
    ),
  );
  if (answer.code === null) measures?.disabled(input.reason);
  else onError(new Error(answer.body), `failed to disable ${input.id} (${input.reason})`);
}
