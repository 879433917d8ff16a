import type { CommandKind, CommandRequest } from '../kernel/command.ts';
import { errorBody } from '../kernel/envelope.ts';
import { type ErrorCode, type Refusal, statusOf } from '../kernel/errors.ts';
import type { IdKind } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';

/** A command on its way: what is asked, by whom, and under which idempotency key. */
export interface Submission {
  // biome-ignore lint/suspicious/noExplicitAny: a batch holds commands of every kind; each kind knows its own input.
  readonly kind: CommandKind<any>;
  readonly input: unknown;
  readonly context: CommandRequest;
  readonly idempotency: IdempotencyClaim | null;
  /** The record that it is about. The audit row of a refusal names it. */
  readonly target?: Target | null;
  /** Whether the answer shows the ledger entries of the command. */
  readonly expandsEntries?: boolean;
  /** The wall clock: audit rows and kept answers go by it, whatever the application's clock says. */
  readonly wallNow: Instant;
}

export interface Target {
  readonly resource: IdKind;
  readonly id: string;
  /** The caller sent the id: the record is named only if the organization has it. */
  readonly isClaimed: boolean;
}

export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

/** What goes out on the wire, after the commit. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly isReplay: boolean;
  readonly code: ErrorCode | null;
  readonly retryAfterSeconds?: number;
}

export function refusalAnswer(refusal: Refusal, requestId: string, docsUrl: string): Answer {
  const { code, retryAfterSeconds } = refusal;
  return {
    status: statusOf(code),
    body: errorBody(refusal, requestId, docsUrl),
    isReplay: false,
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** A command that was refused before it reached the engine: it changes nothing, but the audit trail says so. */
export function refusedCommand(name: string, refusal: Refusal): CommandKind<undefined> {
  return { name, success: 'ok', reads: () => [], decide: () => refusal };
}

/**
 * An application has its own space of keys, so that rotating an API key does not break a retry. What concerns the whole
 * organization has another.
 */
export function claimScope({ context, idempotency }: Submission): string | null {
  return idempotency === null ? null : `${context.appId ?? context.orgId} ${idempotency.key}`;
}
