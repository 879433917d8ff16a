import type { CommandKind, Erased, RequestContext } from './command.ts';
import type { ErrorCode } from './errors.ts';
import type { IdKind } from './ids.ts';
import type { Instant } from './table.ts';

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
