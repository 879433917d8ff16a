import type { Change } from './command.ts';
import type { Refusal } from './errors.ts';
import { allowedActions, type Machine, refuseMove, refuseTransition, type Stateful } from './machine.ts';

/**
 * What `advance` asks of a record: its next step, a step by name, or the shortest way to a state. The parameters belong to
 * the step by name, or to the last step of the way.
 */
export type Advance<Params> =
  | { readonly by: 'next' }
  | { readonly by: 'action'; readonly action: string; readonly params: Params }
  | { readonly by: 'to'; readonly to: string; readonly params: Params };

/** A record on its way through one command, with all the changes that brought it there. */
export interface Position<Row extends Stateful> {
  readonly ok: true;
  readonly row: Row;
  readonly changes: readonly Change[];
}

export interface Step<Params> {
  readonly action: string;
  readonly params: Params;
}

export interface Rules<Row extends Stateful, Params, At extends Position<Row>> {
  readonly machine: Machine<Row>;
  /** What the record would do by itself; undefined when it waits for somebody. */
  readonly next: (at: At) => Step<Params> | undefined;
  readonly apply: (at: At, step: Step<Params>) => At | Refusal;
  /** Parameters of the steps before the last one of a way. */
  readonly defaults: Params;
  /** Steps beside those of the machine that a way may take: what another record brings along. */
  readonly brought?: (at: At) => readonly At[];
}

const stepsMax = 16;

/** Decides an advance. Each move on the way has its own change, and so its own history, entries and event. */
export function advance<Row extends Stateful, Params, At extends Position<Row>>(
  request: Advance<Params>,
  start: At,
  rules: Rules<Row, Params, At>,
): At | Refusal {
  switch (request.by) {
    case 'next': {
      const step = rules.next(start);
      if (!step) return refuseTransition(rules.machine, start.row, 'has no next step of its own', {});
      return refuseMove(rules.machine, step.action, start.row) ?? rules.apply(start, step);
    }
    case 'action':
      return refuseMove(rules.machine, request.action, start.row) ?? rules.apply(start, request);
    case 'to':
      return walk(request.to, request.params, start, rules);
  }
}

/**
 * Breadth first, so the first arrival is the shortest; among equals the order of the table decides. Only the step that
 * arrives takes the parameters.
 */
function walk<Row extends Stateful, Params, At extends Position<Row>>(
  to: string,
  params: Params,
  start: At,
  rules: Rules<Row, Params, At>,
): At | Refusal {
  const { machine, defaults, apply } = rules;
  if (start.row.status === to) return refuseTransition(machine, start.row, 'is that already', { to });
  const visited = new Set([start.row.status, to]);
  let refusal: Refusal | undefined;
  let frontier: readonly At[] = [start];
  for (let steps = 0; steps < stepsMax && frontier.length > 0; steps += 1) {
    const reached: At[] = [];
    for (const at of frontier) {
      const actions = allowedActions(machine, at.row);
      const brought = rules.brought?.(at) ?? [];
      for (const arrival of [...actions.map((action) => apply(at, { action, params })), ...brought]) {
        if (!arrival.ok) refusal ??= arrival;
        else if (arrival.row.status === to) return arrival;
      }
      for (const passed of [
        ...actions.map((action) => apply(at, { action, params: defaults })),
        ...brought,
      ]) {
        if (!passed.ok || visited.has(passed.row.status)) continue;
        visited.add(passed.row.status);
        reached.push(passed);
      }
    }
    frontier = reached;
  }
  return refusal ?? refuseTransition(machine, start.row, `cannot come to be ${to}`, { to });
}
