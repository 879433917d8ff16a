import { assert } from './assert.ts';
import { type Refusal, refuse } from './errors.ts';
import type { IdKind } from './ids.ts';

/** The fields of a record that limit the `amount` of an action. */
export const amountMaximums = ['amountCapturable', 'amountRefundable'] as const;

/**
 * A lifecycle as data: each action with its source and target states, its condition and its event. Checks, `allowedActions`,
 * capabilities, diagrams and the generated test matrix all read this table. An action has several rows when its target depends
 * on the source state.
 */
export interface Move<Row, State extends string = string, Action extends string = string> {
  readonly action: Action;
  /** Empty for the move that creates the record. */
  readonly from: readonly State[];
  readonly to: readonly State[];
  /** The state does not change: each state in `from` leads to itself. */
  readonly stays?: true;
  /** Events are named after the target state. This overrides the name where the state does not describe the change. */
  readonly event?: string;
  /** An additional condition on the record. */
  readonly when?: Condition<Row>;
  /** The field of the record with the maximum of the `amount` parameter. */
  readonly amountMaximum?: (typeof amountMaximums)[number];
  /** The resource that triggers this move. Callers cannot request it. */
  readonly triggeredBy?: IdKind;
  /** Recorded in the history, but emits no webhook event. */
  readonly emitsNoEvent?: true;
  /** Does not change the record, so the history has no row for it. */
  readonly isTraceless?: true;
  /**
   * Changes descriptive fields in any state and is not a part of the lifecycle: it has its own operation, and it is not one of the
   * `allowedActions`.
   */
  readonly isEdit?: true;
}

interface Condition<Row> {
  /** Completes the sentence "only when ...". */
  readonly description: string;
  readonly holds: (row: Row) => boolean;
}

export interface Stateful {
  readonly status: string;
}

export interface Machine<
  Row extends Stateful,
  State extends string = string,
  Action extends string = string,
> {
  readonly resource: IdKind;
  readonly states: readonly State[];
  readonly moves: readonly Move<Row, NoInfer<State>, Action>[];
  /** The state that a record reaches if everything succeeds. */
  readonly goal?: NoInfer<State>;
  /** The states that are off the path to the goal, such as `failed`. */
  readonly setbacks?: readonly NoInfer<State>[];
  /** For a machine that emits webhook events: a sentence for each event, keyed by event name without the resource. */
  readonly eventDescriptions?: Readonly<Record<string, string>>;
}

/** The states of a machine. */
export type StateOf<M> = M extends Machine<never, infer State> ? State : never;

/** The actions of a machine. */
export type ActionOf<M> = M extends Machine<never, string, infer Action> ? Action : never;

/**
 * Defines the machine of a row type. States and actions are inferred from the table, so an unknown one does not compile. The row
 * type has a separate call, because TypeScript infers either all type arguments of a call or none.
 */
export function defineMachine<Row extends Stateful>() {
  return <const State extends Row['status'], const Action extends string>(
    machine: Machine<Row, State, Action>,
  ): Machine<Row, State, Action> => {
    checkTable(machine);
    return machine;
  };
}

function checkTable<Row extends Stateful>(machine: Machine<Row>): void {
  for (const { action, from, to } of machine.moves) {
    for (const state of [...from, ...to]) {
      assert(
        machine.states.includes(state),
        `${machine.resource}: ${action} names the unknown state ${state}`,
      );
    }
  }
  checkEventNames(machine);
  const { eventDescriptions } = machine;
  if (eventDescriptions) {
    const names = [...new Set(machine.moves.flatMap(emittedEvents))];
    for (const name of names)
      assert(eventDescriptions[name], `${machine.resource}: ${name} has no description`);
    for (const name of Object.keys(eventDescriptions))
      assert(names.includes(name), `${machine.resource}: ${name} has a description, but no move emits it`);
  }
}

/** Action and both states determine the event, so that the history does not have to read it. */
function checkEventNames<Row extends Stateful>({ resource, moves }: Machine<Row>): void {
  const known = new Map<string, string>();
  for (const { action, from, to, stays, event } of moves) {
    for (const source of from.length === 0 ? [null] : from) {
      for (const target of stays && source !== null ? [source] : to) {
        const name = event ?? target;
        const key = `${action} from ${source} to ${target}`;
        assert((known.get(key) ?? name) === name, `${resource}: ${key} has two events`);
        known.set(key, name);
      }
    }
  }
}

/** The moves of the lifecycle: all of the table except edits. */
export function lifecycleMoves<Row extends Stateful, State extends string, Action extends string>({
  moves,
}: Machine<Row, State, Action>): readonly Move<Row, State, Action>[] {
  return moves.filter(({ isEdit }) => !isEdit);
}

/** The actions that a record allows in its current state, in table order. */
export function allowedActions<Row extends Stateful, Action extends string>(
  machine: Machine<Row, string, Action>,
  row: Row,
): readonly Action[] {
  return [...new Set(openMoves(machine, row).map(({ action }) => action))];
}

/** Every action that a caller may request in some state, in table order. */
export function requestableActions<Row extends Stateful, Action extends string>(
  machine: Machine<Row, string, Action>,
): readonly Action[] {
  const requestable = lifecycleMoves(machine).filter(
    ({ triggeredBy, from }) => triggeredBy === undefined && from.length > 0,
  );
  return [...new Set(requestable.map(({ action }) => action))];
}

export function openMoves<Row extends Stateful, State extends string, Action extends string>(
  machine: Machine<Row, State, Action>,
  row: Row,
): readonly Move<Row, State, Action>[] {
  return movesFrom(machine, row.status).filter(({ when }) => when?.holds(row) ?? true);
}

const movesByState = new WeakMap<object, Map<string, readonly Move<never>[]>>();

/** The moves that a caller may request in a state. Cached, because every response shows them. */
function movesFrom<Row extends Stateful, State extends string, Action extends string>(
  machine: Machine<Row, State, Action>,
  state: string,
): readonly Move<Row, State, Action>[] {
  let byState = movesByState.get(machine);
  if (!byState) {
    byState = new Map();
    movesByState.set(machine, byState);
  }
  let moves = byState.get(state);
  if (!moves) {
    moves = lifecycleMoves(machine).filter((move) => move.triggeredBy === undefined && startsAt(move, state));
    byState.set(state, moves);
  }
  return moves as readonly Move<Row, State, Action>[];
}

/** The guard before `decide`: undefined when the record allows the action. */
export function refuseMove<Row extends Stateful, Action extends string>(
  machine: Machine<Row, string, Action>,
  action: NoInfer<Action>,
  row: Row,
): Refusal | undefined {
  const moves = movesOf(machine, action);
  if (openMoves(machine, row).some((move) => move.action === action)) return undefined;
  const unmet = moves.find(
    ({ from, triggeredBy }) => triggeredBy === undefined && from.includes(row.status),
  )?.when;
  const condition = unmet === undefined ? '' : ` (only when ${unmet.description})`;
  const verb = action.includes('_') ? `perform ${action} on` : action;
  return refuseTransition(machine, row, `Cannot ${verb} ${describeRow(machine, row)}${condition}`, {
    action,
  });
}

/** Refuses a transition: the problem, followed by the actions that the record allows. */
export function refuseTransition<Row extends Stateful>(
  machine: Machine<Row>,
  row: Row,
  problem: string,
  details: Readonly<Record<string, unknown>>,
): Refusal {
  const allowed = allowedActions(machine, row);
  const remedy =
    allowed.length > 0 ? `allowed actions: ${allowed.join(', ')}` : 'no further actions are allowed';
  return refuse('invalid_state_transition', {
    message: `${problem}; ${remedy}.`,
    details: { status: row.status, ...details },
    allowedActions: allowed,
  });
}

/**
 * The assertion after `decide`: a target state that the table does not list is our bug. Returns the name of the event, and
 * whether it is emitted.
 */
export function arrivalOf<Row extends Stateful, Action extends string>(
  machine: Machine<Row, string, Action>,
  action: NoInfer<Action>,
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

/** The type of the event of a recorded move. A move that the table no longer lists is named after its target state. */
export function recordedEventType<Row extends Stateful>(
  { resource, moves }: Machine<Row>,
  action: string,
  before: string | null,
  after: string,
): string {
  const move = moves.find(
    ({ action: name, from, to, stays }) =>
      name === action &&
      (before === null ? from.length === 0 : from.includes(before)) &&
      (stays ? after === before : to.includes(after)),
  );
  return `${resource}.${move?.event ?? after}`;
}

export interface Arrival {
  /** The event name without the resource. */
  readonly event: string;
  readonly emitsNoEvent: boolean;
}

/** Every event type that a machine can emit, in table order. */
export function eventTypes<Row extends Stateful>({ resource, moves }: Machine<Row>): readonly string[] {
  return [...new Set(moves.flatMap(emittedEvents))].map((name) => `${resource}.${name}`);
}

/** The event names of a move: one for each target state, one for all of them, or none. */
export function emittedEvents<Row>({ event, to, emitsNoEvent }: Move<Row>): readonly string[] {
  if (emitsNoEvent) return [];
  return event === undefined ? to : [event];
}

/** States that no move leaves, including moves that other records trigger. */
export function finalStates<Row extends Stateful, State extends string>({
  states,
  moves,
}: Machine<Row, State>): readonly State[] {
  return states.filter((state) => !moves.some(({ from, stays }) => from.includes(state) && !stays));
}

function startsAt<Row>({ from }: Move<Row>, state: string): boolean {
  return from.includes(state);
}

function movesOf<Row extends Stateful>(machine: Machine<Row>, action: string): readonly Move<Row>[] {
  const moves = machine.moves.filter((move) => move.action === action);
  assert(moves.length > 0, `${machine.resource} has no action ${action}`);
  return moves;
}

/** "a refunded payment", or "a payment in state requires_action". */
export function describeRow<Row extends Stateful>({ resource }: Machine<Row>, { status }: Row): string {
  const noun = nounOf(resource);
  return status.includes('_') ? `${withArticle(noun)} in state ${status}` : withArticle(`${status} ${noun}`);
}

export function nounOf(resource: string): string {
  return resource === 'api_key' ? 'API key' : resource.replaceAll('_', ' ');
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
