import type { StateMachine, TimelineItem } from '../../generated/shapes.ts';

export interface Step {
  readonly key: string;
  readonly state: string;
  /** When the record entered the state; undefined if it has not yet. */
  readonly at: string | undefined;
  readonly place: 'past' | 'now' | 'ahead';
  readonly isLast: boolean;
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
  // Until the history is loaded, and for states that it does not reach back to.
  const past = entered.at(-1)?.state === status ? entered : [{ key: status, state: status, at: undefined }];
  const ahead = wayToGoal(machine, status).map((state) => ({ key: `ahead ${state}`, state, at: undefined }));
  const shown = [...past.slice(-pastMax), ...ahead];
  const now = Math.min(past.length, pastMax) - 1;
  return shown.map((step, index) => ({
    ...step,
    place: index < now ? 'past' : index === now ? 'now' : 'ahead',
    isLast: index === shown.length - 1,
  }));
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
