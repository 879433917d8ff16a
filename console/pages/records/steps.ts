import type { StateMachine, TimelineItem } from '../../generated/shapes.ts';

export interface Step {
  readonly key: string;
  readonly state: string;
  /** When the record entered the state; undefined if it has not yet. */
  readonly at: string | undefined;
  /** 'missed' states were ahead when the record left the way to its goal. */
  readonly place: 'past' | 'now' | 'ahead' | 'missed';
  /** Off the way to the goal, such as failed or refunded: a branch of the step before. */
  readonly isExit: boolean;
}

const pastMax = 6;

/** The states of a record in order: the way it took, the current state, and the way to its goal. */
export function stepsOf(
  machine: StateMachine,
  status: string,
  items: readonly TimelineItem[],
): readonly Step[] {
  const entered = items
    .filter(({ kind, data }) => kind === 'move' && data.from !== data.to)
    .toSorted((a, b) => (a.version ?? 0) - (b.version ?? 0))
    .map(({ id, at, data }) => ({ key: id, state: String(data.to), at }));
  // The record and its history are read one after the other: either may be a transition ahead.
  const last = entered.findLastIndex(({ state }) => state === status);
  const past =
    last >= 0 ? entered.slice(0, last + 1) : [...entered, { key: status, state: status, at: undefined }];
  const isExit = (state: string) => machine.setbacks.includes(state);
  const left = isExit(status) ? past.findLast(({ state }) => !isExit(state))?.state : undefined;
  const missed = left === undefined || mayPassGoal(machine, status) ? [] : wayToGoal(machine, left);
  const ahead = left === undefined ? wayToGoal(machine, status) : missed;
  return [
    ...past.slice(-pastMax).map((step, index, shown) => ({
      ...step,
      place: index === shown.length - 1 ? ('now' as const) : ('past' as const),
      isExit: isExit(step.state),
    })),
    ...ahead.map((state) => ({
      ...{ key: `ahead ${state}`, state, at: undefined, isExit: false },
      place: left === undefined ? ('ahead' as const) : ('missed' as const),
    })),
  ];
}

/** Whether the record can still do what leads to its goal without a change of its state: a partially refunded payment settles. */
function mayPassGoal(machine: StateMachine, status: string): boolean {
  const { goal, moves } = machine;
  const actions = moves.filter(({ to }) => goal !== null && to.includes(goal)).map(({ action }) => action);
  return moves.some(({ action, from, stays }) => stays && from.includes(status) && actions.includes(action));
}

/** The shortest way from a state to the goal, without the state itself; empty if the record does not get there by itself. */
export function wayToGoal(machine: StateMachine, status: string): readonly string[] {
  const { goal, setbacks } = machine;
  if (goal === null || machine.finalStates.includes(status) || setbacks.includes(status)) return [];
  const ways: (readonly string[])[] = [[status]];
  const seen = new Set([status]);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) ?? status;
    if (last === goal) return way.slice(1);
    for (const move of machine.moves) {
      if (!move.from.includes(last) || move.broughtBy !== null) continue;
      for (const to of move.to) {
        if (seen.has(to) || setbacks.includes(to)) continue;
        seen.add(to);
        ways.push([...way, to]);
      }
    }
  }
  return [];
}
