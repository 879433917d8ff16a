import type { Position } from './advance.ts';
import { AssertionFailed } from './assert.ts';
import type { Due } from './clock.ts';
import type { Stateful } from './machine.ts';
import type { Instant } from './table.ts';

/** How long an automatically advancing record waits before each step, counted from its last change. */
export type StepDelaysMs<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** When a record takes an automatic step. Null for a step without a delay: something else triggers that one. */
export function stepDue<Action extends string>(
  { updatedAt }: { readonly updatedAt: Instant },
  action: Action | undefined,
  delayMsOf: (action: Action) => number | undefined,
): Due<Action> | null {
  const delayMs = action === undefined ? undefined : delayMsOf(action);
  return action === undefined || delayMs === undefined ? null : { at: updatedAt + delayMs, action };
}

/** No record has more overdue steps: the longest path, a payment with several attempts and a dispute, is shorter. */
const overdueStepsMax = 32;

/**
 * Applies the overdue steps of a record, each at its due time, before a command is decided. The outcome of the command therefore
 * does not depend on whether the timer has already fired.
 */
export function catchUp<Row extends Stateful, Action extends string, At extends Position<Row>>(
  start: At,
  now: Instant,
  dueOf: (row: Row) => Due<Action> | null,
  fire: (at: At, due: Due<Action>) => At,
): At {
  let at = start;
  for (let steps = 0; steps < overdueStepsMax; steps += 1) {
    const due = dueOf(at.row);
    if (!due || due.at > now) return at;
    at = fire(at, due);
  }
  throw new AssertionFailed(`${overdueStepsMax} overdue steps were applied, and more are still due`);
}
