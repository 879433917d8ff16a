import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryDetail, Sandbank } from '../sdk/client.ts';
import { follow } from './follow.ts';
import type { Output } from './output.ts';

export interface FollowedAttempt {
  readonly delivery: DeliveryDetail;
  readonly attempt: DeliveryDetail['attempts'][number];
}

export interface FollowingAttempts {
  readonly webhookId: string;
  readonly eventTypes: readonly string[];
  readonly signal: AbortSignal;
  readonly out: Pick<Output, 'say'>;
  readonly onOpen: () => void;
  readonly onAttempt: (followed: FollowedAttempt) => void;
}

/** An event whose deliveries are not final. The wait between two checks doubles, because retries become rare. */
interface OpenEvent {
  nextCheckAt: number;
  waitMs: number;
}

const firstWaitMs = 100;
const waitMsMax = 5_000;
const openMax = 1_000;
/** Deliveries whose attempts are known: a replay of an event must not show its earlier deliveries again. */
const seenMax = 10_000;

/**
 * Reports every delivery attempt to an endpoint from now on, until the signal. The event stream says which events to check, so an idle
 * endpoint causes no requests. A delivery that is retried is checked until it is final.
 */
export async function followAttempts(sandbank: Sandbank, following: FollowingAttempts): Promise<void> {
  const { signal, eventTypes, out, onOpen } = following;
  const open = new Map<string, OpenEvent>();
  const checking = checkUntilAborted(sandbank, following, open);
  const events = follow(sandbank, { signal, eventTypes, out, onOpen, backlog: () => Promise.resolve([]) });
  for await (const { id } of events) {
    open.set(id, { nextCheckAt: 0, waitMs: firstWaitMs });
    dropOldest(open, openMax);
  }
  await checking;
}

async function checkUntilAborted(
  sandbank: Sandbank,
  following: FollowingAttempts,
  open: Map<string, OpenEvent>,
): Promise<void> {
  const { signal } = following;
  const seen = new Map<string, number>();
  while (!signal.aborted) {
    for (const [eventId, event] of open) {
      if (event.nextCheckAt > Date.now() || signal.aborted) continue;
      // After a failed request the event stays open and is checked again; the event stream reports lost connections.
      const isFinal = await reportAttempts(sandbank, following, eventId, seen).catch(() => false);
      if (isFinal) open.delete(eventId);
      event.nextCheckAt = Date.now() + event.waitMs;
      event.waitMs = Math.min(waitMsMax, event.waitMs * 2);
    }
    await pause(firstWaitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Reports the new attempts of an event's deliveries, and returns whether all of its deliveries are final. */
async function reportAttempts(
  sandbank: Sandbank,
  { webhookId, signal, onAttempt }: FollowingAttempts,
  eventId: string,
  seen: Map<string, number>,
): Promise<boolean> {
  const { data } = await sandbank.deliveries.list({ webhookId, eventId, limit: 100 }, { signal });
  for (const { id, attemptCount } of [...data].reverse()) {
    const before = seen.get(id) ?? 0;
    if (attemptCount <= before) continue;
    const delivery = await sandbank.deliveries.retrieve(id, { signal });
    for (const attempt of delivery.attempts) if (attempt.number > before) onAttempt({ delivery, attempt });
    seen.set(id, delivery.attempts.at(-1)?.number ?? before);
    dropOldest(seen, seenMax);
  }
  return data.every(({ status }) => status !== 'pending');
}

function dropOldest(entries: Map<string, unknown>, max: number): void {
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}
