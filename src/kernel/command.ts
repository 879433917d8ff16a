import type { TSchema } from 'typebox';
import type { ApplicationSettings } from './application-settings.ts';
import { assert } from './assert.ts';
import type { Presented, Success } from './envelope.ts';
import type { ErrorCode, Refusal } from './errors.ts';
import type { EventRow } from './event.ts';
import type { Id, IdKind } from './ids.ts';
import type { Entry, Settlement } from './ledger.ts';
import { arrivalOf, type Machine } from './machine.ts';
import type { ProviderMove } from './provider.ts';
import type { AnyRow, Instant, KeyLock, Table } from './table.ts';
import type { Due } from './time.ts';

/** The caller: an API key, a person in the console, or Sandbank itself (the seed file, a worker). */
export type Actor = KeyActor | PersonActor | SystemActor;

interface KeyActor {
  readonly kind: 'api_key';
  readonly id: Id<'api_key'>;
  /** The API key that this one replaced when it was rotated. */
  readonly replaces?: Id<'api_key'>;
}

interface PersonActor {
  readonly kind: 'person';
  readonly id: Id<'person'>;
}

interface SystemActor {
  readonly kind: 'system';
  /** The name of the worker or tool. */
  readonly id: string;
}

/** Everything that `decide` may use besides its input. Clock and identity are passed in, because `decide` is pure. */
export interface CommandContext {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'> | null;
  readonly actor: Actor;
  readonly requestId: Id<'request'>;
  readonly ip: string | null;
  readonly settings: ApplicationSettings;
  /** Business time: the clock of the application that owns the changed record, else of the calling application. */
  readonly now: Instant;
  /** For commands that set a clock, which need a time that does not depend on it. */
  readonly wallNow: Instant;
  /** The id suffix of the rows that this command creates. They share it, which shows that they belong together. */
  readonly suffix: string;
}

/** The context of a submitted command. Its time is read from the clock only when the command is decided. */
export type RequestContext = Omit<CommandContext, 'now' | 'wallNow'>;

/**
 * Whether the actor may see and change an application's webhooks and their deliveries. An API key can access only its own
 * application; people and Sandbank itself can access all applications of the organization.
 */
export function reachesApplication(
  { actor, appId }: { readonly actor: Actor; readonly appId: Id<'application'> | null },
  ownerId: Id<'application'>,
): boolean {
  return actor.kind !== 'api_key' || appId === ownerId;
}

/** A row type that the engine can load and write: its table, presentation and lifecycle. */
export interface Resource<Row extends AnyRow & { readonly status: string }> {
  /** Also the kind of its ids. */
  readonly name: IdKind;
  readonly table: Table<Row>;
  readonly machine: Machine<Row>;
  /** The row as responses and events show it. */
  readonly present: (row: Row) => Presented;
  /** Whether its moves emit webhook events. Those of keys and organizations do not. */
  readonly emitsEvents: boolean;
  /** The schema of `present`; required for resources that emit events. */
  readonly schema?: TSchema;
  /** The next scheduled step of a row by the application clock. The engine derives the timer from it. */
  readonly due?: (row: Row) => Due | null;
}

/**
 * The only `any`: registries, queues, batches and route tables hold resources and commands of every type. `writeRoute` and
 * `engine.submit` check that the input and the result belong to the kind.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the entry itself knows its types.
export type Erased = any;

export type AnyResource = Resource<Erased>;

export type Read = RowRead | BalanceRead;

/** A resource kind and an id of the same kind. */
export type RowRead = {
  readonly [Kind in IdKind]: { readonly resource: Kind; readonly id: Id<Kind>; readonly lock: KeyLock };
}[IdKind];

/**
 * The balance of an account. It is not locked, because every batch that posts would wait. A command that spends from it locks the
 * organization, which serializes spending; concurrent postings are equivalent to postings that follow.
 */
interface BalanceRead {
  readonly balance: string;
  readonly currency: string;
}

/** The rows that a command declared. Reading an undeclared row is a bug and throws; a missing row is undefined. */
export interface LoadedRows {
  get<Row extends AnyRow>(resource: IdKind, id: Row['id']): Row | undefined;
  /** Debits are positive. Includes the postings of earlier commands in the batch. */
  balance(account: string, currency: string): bigint;
}

/** The new version of one row, and the move that created it. */
export interface Change {
  readonly resource: IdKind;
  readonly action: string;
  readonly from: string | null;
  readonly row: StatefulRow;
  readonly event: string;
  /** No webhook event is emitted. */
  readonly emitsNoEvent: boolean;
  /** The ledger entries of the move. */
  readonly entries: readonly Entry[];
  /** The move as the provider sees it; null for a move without provider involvement. */
  readonly providerMove: ProviderMove | null;
  /** The provider's report on the settled money; null for a move that settles nothing. */
  readonly settlement: Settlement | null;
}

export interface StatefulRow extends AnyRow {
  /** The application that created the record. Its webhooks receive the events, regardless of the caller. */
  readonly appId?: Id<'application'>;
  readonly status: string;
  readonly version: number;
  /** The time of the last change, which is the time of the move. */
  readonly updatedAt: Instant;
}

/** A delivery to an endpoint that the command names. The engine creates the deliveries that follow from events. */
export interface RequestedDelivery {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'delivery'>;
  readonly appId: Id<'application'>;
  readonly webhookId: Id<'webhook'>;
  readonly eventId: Id<'event'>;
  readonly eventType: string;
  readonly trigger: 'event' | 'replay' | 'test';
  readonly createdAt: Instant;
  readonly replayId?: Id<'replay'> | null;
  /** For a delivery that the caller sends itself: its lease and claim number. */
  readonly leaseUntil?: Instant | null;
  readonly token?: number;
}

interface AcceptedFields {
  readonly ok: true;
  readonly changes: readonly Change[];
  /** The row that the response shows. `shown` overrides the presentation of its resource. */
  readonly answer: { readonly resource: IdKind; readonly row: AnyRow; readonly shown?: Presented };
  /** Response fields in addition to those of the row. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** More commands follow. The idempotency key counts as in progress until a command with `concludes` has answered. */
  readonly isInterim?: true;
  /** Unchanged records whose timers must be recalculated. */
  readonly timed?: readonly { readonly resource: IdKind; readonly row: StatefulRow }[];
  /** Events that a caller requested, without a change. */
  readonly events?: readonly EventRow[];
  /** Deliveries to endpoints that the caller selected. The engine creates the deliveries that follow from events. */
  readonly deliveries?: readonly RequestedDelivery[];
  /** Clears the coverage of the organization. */
  readonly forgetsCoverage?: true;
  /**
   * Response fields with secrets, which are added to or replace the others. Only the actor sees them, and the copy that is stored
   * for replays is encrypted. The command kind must have `answersWithSecret`.
   */
  readonly secrets?: Readonly<Record<string, unknown>>;
}

/**
 * A decision to accept a command. `result` is for the code that submitted the command: it is never rendered and never stored. A
 * command kind that declares a result type must return one.
 */
export type Accepted<Result = undefined> = AcceptedFields &
  (undefined extends Result ? { readonly result?: Result } : { readonly result: Result });

export type Decision<Result = undefined> = Accepted<Result> | Refusal;

/** A command as data: the rows that it reads, how it decides, and its typed result. */
export interface CommandKind<Input, Result = undefined> {
  /** Also the action in the audit trail, e.g. `payments.create`. */
  readonly name: string;
  readonly success: Success;
  /** The last of several commands of one request: its response is stored for the idempotency key. */
  readonly concludes?: true;
  /** After this time, an unfinished multi-command request counts as dead: the same request may use its key again. */
  readonly retakenAfterMs?: number;
  /**
   * Deletes all records of its organization when it is accepted, before its own changes are written. It runs alone with exclusive
   * access to the organization; its response reports the number of deleted records.
   */
  readonly clears?: true;
  /** With `clears`: also deletes the organization and its configuration. Only the audit trail remains. */
  readonly deletes?: true;
  /** It creates deliveries of events that were queried before it was submitted, and may have been deleted since. */
  readonly replaysEvents?: true;
  /** Its events are delivered only to the endpoints that it names. */
  readonly addressesEvents?: true;
  /** Its response may show a secret: the request log omits the Idempotency-Key, which could be used to replay it. */
  readonly answersWithSecret?: true;
  readonly reads: (input: Input, request: RequestContext) => readonly Read[];
  /**
   * Further reads that depend on the rows of `reads`: a refund names its payment. They may depend only on immutable fields, because
   * the first read happens before anything is locked.
   */
  readonly thenReads?: (input: Input, rows: Pick<LoadedRows, 'get'>) => readonly Read[];
  /**
   * An authorization check beyond the role and scope of the route. It runs before a stored response is replayed and before `decide`.
   * Its refusals are never stored.
   */
  readonly authorize?: (input: Input, context: CommandContext, rows: LoadedRows) => Refusal | undefined;
  readonly decide: (input: Input, context: CommandContext, rows: LoadedRows) => Decision<Result>;
}

/**
 * A command that a prepare step completes before the engine decides it: a DNS lookup, a new secret, a count of existing rows, a
 * flush. Routes accept it only together with that step, see `writeRoute`.
 */
export interface PreparedCommand<Input, Result = undefined> extends CommandKind<Input, Result> {
  readonly needsPrepare: true;
}

export type AnyCommand = CommandKind<Erased, Erased>;

/** Records one move of a machine. Asserts that the table allows it, and takes the event name from the table. */
export function change<Row extends StatefulRow, Action extends string>(
  machine: Machine<Row, string, Action>,
  action: NoInfer<Action>,
  before: Row | null,
  row: Row,
  effects: Partial<Pick<Change, 'entries' | 'providerMove' | 'settlement'>> = {},
): Change {
  const { event, emitsNoEvent } = arrivalOf(machine, action, before, row);
  assert(
    row.version === (before?.version ?? 0) + 1,
    `${machine.resource}: a move must increment the version`,
  );
  return {
    resource: machine.resource,
    action,
    from: before?.status ?? null,
    row,
    event: `${machine.resource}.${event}`,
    emitsNoEvent,
    entries: effects.entries ?? [],
    providerMove: effects.providerMove ?? null,
    settlement: effects.settlement ?? null,
  };
}

export function accepted(changes: readonly Change[], resource: IdKind, row: AnyRow): Accepted {
  return { ok: true, changes, answer: { resource, row } };
}

/** A submission without its command: the actor, the idempotency key and the target. */
export interface CommandRequest {
  readonly context: RequestContext;
  readonly idempotency: IdempotencyClaim | null;
  /** The record that the command targets. The audit row of a refusal names it. */
  readonly target?: Target | null;
  /** Whether the response includes the ledger entries of the command. */
  readonly expandsEntries?: boolean;
  /** The wall clock. Audit rows and stored responses use it, not the application clock. */
  readonly wallNow: Instant;
}

/** A command with its input, ready for the engine. */
export interface Submission<Input = Erased, Result = Erased> extends CommandRequest {
  readonly kind: CommandKind<Input, Result>;
  readonly input: Input;
}

export interface Target {
  readonly resource: IdKind;
  readonly id: string;
  /** The caller sent the id: the audit row names the record only if the organization has it. */
  readonly isClaimed: boolean;
}

export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

/** The response, sent after the commit. */
export interface Rendered {
  readonly status: number;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/** The answer to a command. Only a newly accepted command has a result: a replay is just the stored response. */
export type Answer<Result = unknown> =
  | (Rendered & { readonly code: null; readonly isReplay: false; readonly result: Result })
  | (Rendered & { readonly code: null; readonly isReplay: true })
  | (Rendered & { readonly code: ErrorCode; readonly isReplay: false });
