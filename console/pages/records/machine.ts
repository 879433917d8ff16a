import type { StateMachine } from '../../generated/shapes.ts';

/** One arrow of the diagram: all actions that lead from one state to another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly actions: readonly string[];
  /** Triggered by another record only, such as a lost dispute. */
  readonly isTriggered: boolean;
}

export interface AllowedAction {
  readonly action: string;
  readonly to: readonly string[];
  readonly condition: string | null;
}

/** The arrows of a machine; actions that keep the state have none. */
export function edgesOf(machine: StateMachine): readonly Edge[] {
  const found = new Map<string, { from: string; to: string; actions: Set<string>; isTriggered: boolean }>();
  for (const move of machine.moves) {
    if (move.stays) continue;
    for (const from of move.from) {
      for (const to of move.to) {
        const key = `${from} ${to}`;
        const edge = found.get(key) ?? { from, to, actions: new Set<string>(), isTriggered: true };
        edge.actions.add(move.action);
        edge.isTriggered &&= move.broughtBy !== null;
        found.set(key, edge);
      }
    }
  }
  return [...found.values()].map((edge) => ({ ...edge, actions: [...edge.actions] }));
}

/** The allowed actions with the states that each can lead to. */
export function allowedActions(
  machine: StateMachine,
  status: string,
  allowed: readonly string[],
): readonly AllowedAction[] {
  return allowed.map((action) => {
    const moves = machine.moves.filter(
      (move) => move.action === action && move.from.includes(status) && move.broughtBy === null,
    );
    const to = moves.flatMap((move) => (move.stays ? [status] : move.to));
    return { action, to: [...new Set(to)], condition: moves[0]?.condition ?? null };
  });
}

/** States reachable from here, for 'Go to state'. The server checks the conditions. */
export function reachableStates(machine: StateMachine, status: string): readonly string[] {
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

/** Whether the arrow leaves the current state by an allowed action. */
export function isAllowedEdge(edge: Edge, status: string, allowed: readonly string[]): boolean {
  return edge.from === status && edge.actions.some((action) => allowed.includes(action));
}
