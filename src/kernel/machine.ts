import { assert } from './assert.ts';
import { type Refusal, refuse } from './errors.ts';
import type { IdKind } from './ids.ts';

/**
 * A lifecycle as data: which action leads from where to where, under which condition, and the event that tells of it.
 * Checks, `allowedActions`, capabilities, diagrams and the generated test matrix all read this table. An action may have
 * several rows, when it leads to different places from different states.
 */
export interface Move<Row> {
  readonly action: string;
  /** Empty for the move that makes the record. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The record stays where it is: `to` is `from`, each for itself. */
  readonly stays?: true;
  /** Events are named by the state of arrival; this names one where the arrival does not tell what happened. */
  readonly event?: string;
  /** What must be true of the record besides its state. */
  readonly when?: Condition<Row>;
  /** The kind of record that brings this move along: nobody can ask for it. */
  readonly triggeredBy?: IdKind;
  /** Told to no webhook, although it is in the history. */
  readonly emitsNoEvent?: true;
  /** It changes nothing of the record, and so leaves nothing in the history either. */
  readonly isTraceless?: true;
}

export interface Condition<Row> {
  /** Completes the sentence "only when ...". */
  readonly description: string;
  readonly holds: (row: Row) => boolean;
}

export interface Stateful {
  readonly status: string;
}

export interface Machine<Row extends Stateful> {
  readonly resource: IdKind;
  readonly states: readonly string[];
  readonly moves: readonly Move<Row>[];
  /** For a machine whose moves are told to webhooks: a sentence for each event, by its name without the resource. */
  readonly eventDescriptions?: Readonly<Record<string, string>>;
}

export function defineMachine<Row extends Stateful>(machine: Machine<Row>): Machine<Row> {
  for (const { action, from, to } of machine.moves) {
    for (const state of [...from, ...to]) {
      assert(
        machine.states.includes(state),
        `${machine.resource}: ${action} names the unknown state ${state}`,
      );
    }
  }
  const { eventDescriptions } = machine;
  if (eventDescriptions) {
    const names = [...new Set(machine.moves.flatMap(emittedEvents))];
    for (const name of names) assert(eventDescriptions[name], `${machine.resource}: ${name} has no words`);
    for (const name of Object.keys(eventDescriptions))
      assert(names.includes(name), `${machine.resource}: ${name} has words, and no move tells it`);
  }
  return machine;
}

/** The actions open to a record as it stands, in the order of the table. */
export function allowedActions<Row extends Stateful>(machine: Machine<Row>, row: Row): readonly string[] {
  return [...new Set(openMoves(machine, row).map(({ action }) => action))];
}

/** Every action that a caller may request in some state, in the order of the table. */
export function requestableActions<Row extends Stateful>({ moves }: Machine<Row>): readonly string[] {
  const requestable = moves.filter(({ triggeredBy, from }) => triggeredBy === undefined && from.length > 0);
  return [...new Set(requestable.map(({ action }) => action))];
}

export function openMoves<Row extends Stateful>(machine: Machine<Row>, row: Row): readonly Move<Row>[] {
  return movesFrom(machine, row.status).filter(({ when }) => when?.holds(row) ?? true);
}

const movesByState = new WeakMap<object, Map<string, readonly Move<never>[]>>();

/** The moves that a caller may ask for in a state. Every answer shows them, so they are looked up once. */
function movesFrom<Row extends Stateful>(machine: Machine<Row>, state: string): readonly Move<Row>[] {
  let byState = movesByState.get(machine);
  if (!byState) {
    byState = new Map();
    movesByState.set(machine, byState);
  }
  let moves = byState.get(state);
  if (!moves) {
    moves = machine.moves.filter(
      ({ triggeredBy, from }) => triggeredBy === undefined && from.includes(state),
    );
    byState.set(state, moves);
  }
  return moves as readonly Move<Row>[];
}

/** The guard before `decide`: undefined when the move may start here. */
export function refuseMove<Row extends Stateful>(
  machine: Machine<Row>,
  action: string,
  row: Row,
): Refusal | undefined {
  const moves = movesOf(machine, action);
  if (openMoves(machine, row).some((move) => move.action === action)) return undefined;
  const unmet = moves.find(
    ({ from, triggeredBy }) => triggeredBy === undefined && from.includes(row.status),
  )?.when;
  const because = unmet === undefined ? '' : ` (only when ${unmet.description})`;
  return refuseTransition(machine, row, `cannot ${spoken(action)}${because}`, { action });
}

/** Words, state and open actions of a record that cannot do what is asked of it. */
export function refuseTransition<Row extends Stateful>(
  machine: Machine<Row>,
  row: Row,
  what: string,
  details: Readonly<Record<string, unknown>>,
): Refusal {
  const allowed = allowedActions(machine, row);
  const open = allowed.length > 0 ? `it allows ${allowed.join(', ')}` : 'nothing is open to it';
  return refuse('invalid_state_transition', {
    message: `${nounOf(machine.resource)} that is ${row.status} ${what}: ${open}.`,
    details: { status: row.status, ...details },
    allowedActions: allowed,
  });
}

/**
 * The assertion after `decide`: a record that arrives where its table does not say is our bug. Gives the name of the
 * event that tells of the arrival, and whether anybody is told.
 */
export function arrivalOf<Row extends Stateful>(
  machine: Machine<Row>,
  action: string,
  before: Row | null,
  after: Row,
): Arrival {
  const move = movesOf(machine, action).find(
    ({ from, to, when, stays }) =>
      (before === null ? from.length === 0 : from.includes(before.status) && (when?.holds(before) ?? true)) &&
      (stays ? after.status === before?.status : to.includes(after.status)),
  );
  assert(
    move,
    `${machine.resource}: ${action} must not lead from ${before?.status ?? 'nothing'} to ${after.status}`,
  );
  return { event: move.event ?? after.status, emitsNoEvent: move.emitsNoEvent ?? false };
}

export interface Arrival {
  /** The name of the event that tells of it. */
  readonly event: string;
  readonly emitsNoEvent: boolean;
}

/** Every event that a machine can tell, in the order of its table. */
export function eventTypes<Row extends Stateful>({ resource, moves }: Machine<Row>): readonly string[] {
  return [...new Set(moves.flatMap(emittedEvents))].map((name) => `${resource}.${name}`);
}

/** The names of the events that tell of a move: one for each place of arrival, or one for all, or none. */
export function emittedEvents<Row>({ event, to, emitsNoEvent }: Move<Row>): readonly string[] {
  if (emitsNoEvent) return [];
  return event === undefined ? to : [event];
}

/** States that no move leaves, whoever brings it. */
export function finalStates<Row extends Stateful>({ states, moves }: Machine<Row>): readonly string[] {
  return states.filter((state) => !moves.some(({ from, stays }) => from.includes(state) && !stays));
}

function movesOf<Row extends Stateful>(machine: Machine<Row>, action: string): readonly Move<Row>[] {
  const moves = machine.moves.filter((move) => move.action === action);
  assert(moves.length > 0, `${machine.resource} has no action ${action}`);
  return moves;
}

function nounOf(resource: string): string {
  return `${/^[aeiou]/.test(resource) ? 'An' : 'A'} ${spoken(resource)}`;
}

function spoken(action: string): string {
  return action.replaceAll('_', ' ');
}
