import { type RequestContext, reachesApplication } from '../../kernel/command.ts';
import type { EventRow } from '../../kernel/event.ts';
import { type Id, isId } from '../../kernel/ids.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import type { Reader } from '../../kernel/table.ts';
import { findWebhookFor } from '../webhooks/store.ts';
import type { ReplayEvent, Target } from './commands.ts';
import { findEvent, findSubscribers } from './store.ts';

export interface RequestedReplay {
  readonly id: string;
  /** Only to this endpoint; if undefined, to all endpoints that subscribe to the event. */
  readonly webhookId: Id<'webhook'> | undefined;
}

/** Loads the event and its endpoints. */
export const prepareReplayEvent: Prepare<RequestedReplay, ReplayEvent, undefined> = async (
  { requested: { id, webhookId }, request: { context }, submit },
  { reader, ids },
) => {
  const found = isId('event', id) ? await findEvent(reader, context.orgId, id) : undefined;
  const event = found && reachesApplication(context, found.appId) ? found : undefined;
  const endpoints = event && (await targetsOf(reader, event, webhookId, context));
  const rowSuffix = ids.rowSuffixes(context.suffix);
  const targets = endpoints?.map((target) => ({ ...target, suffix: rowSuffix() }));
  return submit({ event, targets });
};

async function targetsOf(
  reader: Reader,
  event: EventRow,
  webhookId: Id<'webhook'> | undefined,
  context: RequestContext,
): Promise<readonly Omit<Target, 'suffix'>[] | undefined> {
  if (webhookId !== undefined) {
    const webhook = await findWebhookFor(reader, context, webhookId);
    return webhook && [{ webhookId, appId: webhook.appId }];
  }
  const subscribers = await findSubscribers(reader, event.orgId, event.id);
  return subscribers.map((id) => ({ webhookId: id, appId: event.appId }));
}
