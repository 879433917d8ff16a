import type { TSchema } from 'typebox';
import type { ApplicationSettings } from './application-settings.ts';
import { assert } from './assert.ts';
import type { Due } from './clock.ts';
import type { Presented, Success } from './envelope.ts';
import type { Refusal } from './errors.ts';
import type { EventRow } from './event.ts';
import type { IdKind } from './ids.ts';
import { arrivalOf, type Machine } from './machine.ts';
import type { Entry } from './posting.ts';
import type { ProviderMove } from './provider.ts';
import type { Settlement } from './settlement.ts';
import type { AnyRow, Instant, KeyLock, Table } from './table.ts';

/** Who asks: a key over HTTP, a person in the console, or Sandbank itself (the seed file, a worker). */
export interface Actor {
  readonly kind: 'api_key' | 'person' | 'system';
  readonly id: string;
  /** The API key that this one replaced when it was rotated. */
  readonly replaces?: string;
}

/** All that `decide` may know besides its input. Clock and identity come in from outside: deciding is pure. */
export interface CommandContext {
  readonly orgId: string;
  readonly appId: string | null;
  readonly actor: Actor;
  readonly requestId: string;
  readonly ip: string | null;
  readonly settings: ApplicationSettings;
  /** Business time: the clock of the application whose record is changed, else of the one that asks. */
  readonly now: Instant;
  /** For the commands that set a clock: a clock cannot be set by itself. */
  readonly wallNow: Instant;
  /** The id suffix of whatever this command makes; one command, one suffix, so that its rows can be told together. */
  readonly suffix: string;
}

/** A command on its way to the engine does not know its time yet: that is read off the clock when it is decided. */
export type CommandRequest = Omit<CommandContext, 'now' | 'wallNow'>;

/**
 * Whether the actor may see and change webhooks of an application, and what belongs to them. An API key reaches only its own
 * application; people, and Sandbank itself, reach all applications of the organization.
 */
export function reachesApplication(
  { actor, appId }: { readonly actor: Actor; readonly appId: string | null },
  ownerId: string,
): boolean {
  return actor.kind !== 'api_key' || appId === ownerId;
}

/** A kind of row that the engine can load and write: where it is kept, how it is shown, and its lifecycle. */
export interface Resource<Row extends AnyRow & { readonly status: string }> {
  /** Also the kind of its ids. */
  readonly name: IdKind;
  readonly table: Table<Row>;
  readonly machine: Machine<Row>;
  /** What answers and events show of a row. */
  readonly present: (row: Row) => Presented;
  /** Whether its moves are told to webhooks. Keys and organizations are not. */
  readonly emitsEvents: boolean;
  /** How `present` shows a row; every resource that emits events has it. */
  readonly schema?: TSchema;
  /** What a row waits for by the clock of its application. From this follows its timer. */
  readonly due?: (row: Row) => Due | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds resources of every row type; each is used with its own.
export type AnyResource = Resource<any>;

export type Read = RowRead | BalanceRead;

export interface RowRead {
  readonly resource: IdKind;
  readonly id: string;
  readonly lock: KeyLock;
}

/**
 * The balance of an account. It is not locked, because every batch that posts would wait: who spends from it locks the
 * organization, so that spenders take turns, and what others post meanwhile could as well have come after.
 */
export interface BalanceRead {
  readonly balance: string;
  readonly currency: string;
}

/** The rows a command declared. Asking for one that was not declared is a bug and throws; an absent one is undefined. */
export interface LoadedRows {
  get<Row>(resource: IdKind, id: string): Row | undefined;
  /** Debits positive, with what the commands before this one in the batch have posted. */
  balance(account: string, currency: string): bigint;
}

/** One row as it shall be from now on, and the move that led there. */
export interface Change {
  readonly resource: IdKind;
  readonly action: string;
  readonly from: string | null;
  readonly row: StatefulRow;
  readonly event: string;
  /** Nobody is told of it. */
  readonly emitsNoEvent: boolean;
  /** What the move posts to the ledger. */
  readonly entries: readonly Entry[];
  /** What the provider sees of the move; null for one that it has no part in. */
  readonly providerMove: ProviderMove | null;
  /** What its report says of the money that the move settled; null for a move that settles nothing. */
  readonly settlement: Settlement | null;
}

export interface StatefulRow extends AnyRow {
  /** The application that made the record: its webhooks hear of it, whoever moves it. */
  readonly appId?: string;
  readonly status: string;
  readonly version: number;
  /** When it was changed last, which is when the move happened. */
  readonly updatedAt: Instant;
}

/** A delivery to an endpoint that the command names. The engine creates the deliveries that follow from events. */
export interface RequestedDelivery {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly trigger: 'event' | 'replay' | 'test';
  readonly createdAt: Instant;
  readonly replayId?: string | null;
  /** For a delivery that the caller sends itself: the lease and the claim number of that. */
  readonly leaseUntil?: Instant | null;
  readonly token?: number;
}

export interface Accepted {
  readonly ok: true;
  readonly changes: readonly Change[];
  /** The row that the answer shows, in the manner of its resource unless told. */
  readonly answer: { readonly resource: IdKind; readonly row: AnyRow; readonly shown?: Presented };
  /** Fields that the answer has beside those of the row. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The work goes on in further commands: until one that `concludes` has answered, the key is that of a request in progress. */
  readonly isInterim?: true;
  /** Records that did not change, but whose timers shall be written anew. */
  readonly timed?: readonly { readonly resource: IdKind; readonly row: StatefulRow }[];
  /** Events that follow from no change: somebody asked for them. */
  readonly events?: readonly EventRow[];
  /** Deliveries of events to endpoints of somebody's choice; those that follow from events are the engine's to make. */
  readonly deliveries?: readonly RequestedDelivery[];
  /** What the organization has met so far counts no more. */
  readonly forgetsCoverage?: true;
  /**
   * Fields with secrets, beside or instead of those that the response has without them. Only the actor sees them, and the copy that
   * is stored for replays is encrypted. The command kind must have `answersWithSecret`.
   */
  readonly secrets?: Readonly<Record<string, unknown>>;
}

export type Decision = Accepted | Refusal;

/** A command is data here and code nowhere else: what it needs to read, and how it decides. */
export interface CommandKind<Input> {
  /** Also the action in the audit trail, e.g. `payments.create`. */
  readonly name: string;
  readonly success: Success;
  /** The last of several commands that carry out one request: its answer is the one that is kept for the key. */
  readonly concludes?: true;
  /** After so long a request of several commands is taken for dead: its key may be used again, for the same request. */
  readonly retakenAfterMs?: number;
  /**
   * Deletes all records of its organization when it is accepted, before its own changes are written. It runs alone, and has the
   * organization to itself; its answer says how much went.
   */
  readonly clears?: true;
  /** With `clears`: the organization itself is deleted too, and all that was set up in it. Only its audit trail stays. */
  readonly deletes?: true;
  /** It makes deliveries of events that were found before it was submitted, and may be gone by now. */
  readonly replaysEvents?: true;
  /** The events that it makes go to the endpoints that it names itself, and to no others. */
  readonly addressesEvents?: true;
  /** Its response may show a secret: the request log leaves out the Idempotency-Key, which would replay it. */
  readonly answersWithSecret?: true;
  readonly reads: (input: Input, request: CommandRequest) => readonly Read[];
  /**
   * What else must be read, known only from the rows of `reads`: a refund names its payment. Only what never changes may
   * lead from one row to the other, because the first look is taken before anything is locked.
   */
  readonly thenReads?: (input: Input, rows: Pick<LoadedRows, 'get'>) => readonly Read[];
  /**
   * Whether the actor may do this at all, where role and scope of the route do not say it. It runs before a stored response is
   * replayed as well as before `decide`. Its refusals are never stored.
   */
  readonly authorize?: (input: Input, context: CommandContext, rows: LoadedRows) => Refusal | undefined;
  readonly decide: (input: Input, context: CommandContext, rows: LoadedRows) => Decision;
}

/** Records one move of a machine: it asserts that the table allows it and takes the event from there. */
export function change<Row extends StatefulRow>(
  machine: Machine<Row>,
  action: string,
  before: Row | null,
  row: Row,
  effects: Partial<Pick<Change, 'entries' | 'providerMove' | 'settlement'>> = {},
): Change {
  const { event, emitsNoEvent } = arrivalOf(machine, action, before, row);
  assert(row.version === (before?.version ?? 0) + 1, `${machine.resource}: a move counts its version up`);
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
