import type { StateMachine } from '../../client/shapes.ts';

/** One arrow of the diagram: all actions that lead from one state to another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly actions: readonly string[];
  /** Only another record brings it about, as a dispute that was lost. */
  readonly isBrought: boolean;
}

export interface Reach {
  readonly action: string;
  readonly to: readonly string[];
  readonly condition: string | null;
}

/** Moves that stay where they are have no arrow. */
export function edgesOf(machine: StateMachine): readonly Edge[] {
  const found = new Map<string, { from: string; to: string; actions: Set<string>; isBrought: boolean }>();
  for (const move of machine.moves) {
    if (move.stays) continue;
    for (const from of move.from) {
      for (const to of move.to) {
        const key = `${from} ${to}`;
        const edge = found.get(key) ?? { from, to, actions: new Set<string>(), isBrought: true };
        edge.actions.add(move.action);
        edge.isBrought &&= move.broughtBy !== null;
        found.set(key, edge);
      }
    }
  }
  return [...found.values()].map((edge) => ({ ...edge, actions: [...edge.actions] }));
}

/** What the record may do now, with the states that each action can arrive in. */
export function reachOf(machine: StateMachine, status: string, allowed: readonly string[]): readonly Reach[] {
  return allowed.map((action) => {
    const moves = machine.moves.filter(
      (move) => move.action === action && move.from.includes(status) && move.broughtBy === null,
    );
    const to = moves.flatMap((move) => (move.stays ? [status] : move.to));
    return { action, to: [...new Set(to)], condition: moves[0]?.condition ?? null };
  });
}

/** States that an asked-for walk could still end in: what 'Go to state' offers. The server knows the conditions. */
export function statesAhead(machine: StateMachine, status: string): readonly string[] {
  const seen = new Set<string>();
  const open = [status];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const move of machine.moves) {
      if (!move.from.includes(state)) continue;
      for (const to of move.to) {
        if (seen.has(to)) continue;
        seen.add(to);
        open.push(to);
      }
    }
  }
  seen.delete(status);
  return machine.states.filter((state) => seen.has(state));
}

/** The arrow that leads out of the present state by an action that is open now. */
export function isOpen(edge: Edge, status: string, allowed: readonly string[]): boolean {
  return edge.from === status && edge.actions.some((action) => allowed.includes(action));
}
