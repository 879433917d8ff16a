import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import type { FinishAdvance } from '../resources/clocks/machine.ts';
import { countDue, findDue } from '../resources/clocks/store.ts';
import { findOutstanding } from '../resources/webhooks/delivery-store.ts';
import type { Application } from './advance-context.ts';

// Beyond this nobody reads the exact number.
const leftCountMax = 100_000;

/** What an advance does next, so that deliveries and timers happen in the order of their instants. */
export type NextStep =
  | { readonly kind: 'send'; readonly until: Instant }
  /** Timers up to an instant: no delivery is due before it. */
  | { readonly kind: 'fire'; readonly until: Instant };

/**
 * Deliveries that are due before the next timer are sent first, all of them at once: only a timer could come between. Without a timer
 * the round that finds none sends everything that is left.
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

/** What is still due when an advance reached a bound, and how much of it the clock has passed over. */
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

/** What happens next in an application in which nothing is due; null when nothing is scheduled. */
export async function upcomingOf(reader: Reader, application: Application): Promise<FinishAdvance['next']> {
  const [[timer], { nextAt }] = await Promise.all([
    findDue(reader, application, endOfTime, 1),
    findOutstanding(reader, application, endOfTime, 1),
  ]);
  if (nextAt !== null && !(timer && timer.dueAt <= nextAt)) return { at: nextAt, type: 'delivery' };
  return timer ? { at: timer.dueAt, type: timer.resource, id: timer.id } : null;
}
