import type { Instant, Reader } from '../kernel/table.ts';
import type { FinishAdvance } from '../resources/clocks/machine.ts';
import { countDue, findDue } from '../resources/clocks/store.ts';
import { findOutstanding } from '../resources/webhooks/delivery-store.ts';
import type { Application } from './advance-context.ts';

// Above this, the exact number does not matter.
const leftCountMax = 100_000;

/** The next step of an advance: deliveries and timers run in the order of their due times. */
export type NextStep =
  | { readonly kind: 'send'; readonly until: Instant }
  /** Fires timers up to an instant before which no delivery is due. */
  | { readonly kind: 'fire'; readonly until: Instant };

/**
 * Deliveries that are due before the next timer are sent first and all at once, because only a timer can create others in between.
 * Without a due timer, the round that finds none sends all remaining deliveries.
 */
export async function nextStep(
  reader: Reader,
  application: Application,
  to: Instant,
  passed: ReadonlySet<string>,
): Promise<NextStep> {
  const [timers, { due, nextAt }] = await Promise.all([
    findDue(reader, application, to, 1 + passed.size),
    findOutstanding(reader, application, to, 1),
  ]);
  const timer = timers.find(({ id }) => !passed.has(id));
  if (!timer || due === 0 || nextAt === null) return { kind: 'fire', until: to };
  if (nextAt < timer.dueAt) return { kind: 'send', until: timer.dueAt - 1 };
  return { kind: 'fire', until: Math.min(to, nextAt) };
}

/** The timers and deliveries still due when an advance reached a limit, and how many deliveries the clock has passed over. */
export async function leftOf(
  reader: Reader,
  application: Application,
  to: Instant,
  reached: Instant,
): Promise<FinishAdvance['left']> {
  const [due, outstanding] = await Promise.all([
    countDue(reader, application, to, leftCountMax),
    findOutstanding(reader, application, to, leftCountMax, reached),
  ]);
  const nextAt = Math.min(due.nextAt ?? Number.MAX_VALUE, outstanding.nextAt ?? Number.MAX_VALUE);
  if (due.timers + outstanding.due === 0) return null;
  return { timers: due.timers, deliveries: outstanding.due, passedOver: outstanding.passedOver, nextAt };
}

// Later than any clock can be, and within the range of PostgreSQL's text format.
const endOfTime: Instant = Date.UTC(9_999, 0);

/** The next scheduled timer or delivery of an application in which nothing is due; null when there is none. */
export async function upcomingOf(reader: Reader, application: Application): Promise<FinishAdvance['next']> {
  const [[timer], { nextAt }] = await Promise.all([
    findDue(reader, application, endOfTime, 1),
    findOutstanding(reader, application, endOfTime, 1),
  ]);
  if (nextAt !== null && !(timer && timer.dueAt <= nextAt)) return { at: nextAt, type: 'delivery' };
  return timer ? { at: timer.dueAt, type: timer.resource, id: timer.id } : null;
}
