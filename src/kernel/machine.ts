import { assert } from './assert.ts';
import { type Refusal, refuse } from './errors.ts';
import type { IdKind } from './ids.ts';

/**
 * A lifecycle as data. A move is one row: the action, the states it may start from, the states it may arrive in and
 * the event that says so. Checks, `allowedActions`, capabilities and documents all read this table.
 */
export interface Move {
  readonly action: string;
  /** Empty for the move that makes the record. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly event: string;
}

export interface Machine {
  readonly resource: IdKind;
  readonly states: readonly string[];
  readonly moves: readonly Move[];
}

export function defineMachine<const M extends Machine>(machine: M): M {
  for (const move of machine.moves) {
    for (const state of [...move.from, ...move.to]) {
      assert(
        machine.states.includes(state),
        `${machine.resource}: ${move.action} names the unknown state ${state}`,
      );
    }
  }
  return machine;
}

export function findMove(machine: Machine, action: string): Move {
  const move = machine.moves.find((candidate) => candidate.action === action);
  assert(move, `${machine.resource} has no action ${action}`);
  return move;
}

/** The actions open to a record in this state, in the order of the table. */
export function allowedActions(machine: Machine, status: string): readonly string[] {
  return machine.moves.filter((move) => move.from.includes(status)).map((move) => move.action);
}

/** The guard before `decide`: undefined when the move may start here. */
export function refuseMove(machine: Machine, action: string, status: string): Refusal | undefined {
  if (findMove(machine, action).from.includes(status)) return undefined;
  const allowed = allowedActions(machine, status);
  const open = allowed.length > 0 ? `it allows ${allowed.join(', ')}` : 'that state is final';
  return refuse('invalid_state_transition', {
    message: `A ${machine.resource} that is ${status} cannot ${action}: ${open}.`,
    details: { status, action },
    allowedActions: allowed,
  });
}

/** The assertion after `decide`: a machine that arrives where its table does not say is our bug. */
export function assertArrival(machine: Machine, action: string, from: string | null, to: string): Move {
  const move = findMove(machine, action);
  const started = from === null ? move.from.length === 0 : move.from.includes(from);
  assert(
    started && move.to.includes(to),
    `${machine.resource}: ${action} must not lead from ${from} to ${to}`,
  );
  return move;
}
