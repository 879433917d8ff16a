import type { Answer, CommandRequest } from './command.ts';
import type { Refusal } from './errors.ts';
import type { Id } from './ids.ts';
import type { Instant, Reader } from './table.ts';

/**
 * The step before a command, for everything that `decide` cannot do because it is pure: resolve an address, generate a secret, count
 * rows, write a buffer. It must end in `submit` or `submitRefusal`, or in a run of several commands. It does not return the input,
 * because some steps hold a lock until the command is committed.
 */
export type Prepare<Requested, Input, Result> = (
  preparation: Preparation<Requested, Input, Result>,
  ports: Ports,
) => PromiseLike<Answer>;

interface Preparation<Requested, Input, Result> {
  readonly requested: Requested;
  readonly request: CommandRequest;
  /** Submits the command with its complete input. */
  readonly submit: (input: Input) => PromiseLike<Answer<Result>>;
  /** Audits a refusal in the name of the command. It is not stored for the idempotency key. */
  readonly submitRefusal: (refusal: Refusal) => PromiseLike<Answer>;
}

/** The services of the process that prepare steps use. `createPorts` connects them, for the server and for tests. */
export interface Ports {
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The public address of this server. */
  readonly publicUrl: () => string;
  readonly ids: {
    /** The id suffixes of additional rows that a command creates. */
    rowSuffixes(suffix: string): () => string;
    /** From 0 to 1. */
    fraction(of: string): number;
  };
  /** Serializes work by key, on this node only. Concurrent nodes may therefore exceed a limit by a few. */
  readonly mutex: { run<Result>(key: string, work: () => PromiseLike<Result>): PromiseLike<Result> };
  readonly secrets: {
    newApiKey(): { readonly key: string; readonly hash: Uint8Array };
    newInvitationToken(): { readonly token: string; readonly hash: Uint8Array };
    newWebhookSecret(): string;
    sealWebhookSecret(secret: string, orgId: Id<'organization'>, webhookId: Id<'webhook'>): string;
    sealWebhookHeaders(
      headers: Readonly<Record<string, string>>,
      orgId: Id<'organization'>,
      webhookId: Id<'webhook'>,
    ): string;
  };
  readonly addressGuard: {
    /** Why a URL may not be called; null when it may. */
    problemOf(url: string): PromiseLike<string | null>;
  };
  readonly people: {
    /** Null when the creator may not create the link. */
    createResetLink(
      email: string,
      creatorId: Id<'person'>,
    ): PromiseLike<{ readonly token: string; readonly expiresAt: Instant } | null>;
  };
  /** Each writes its buffer to the database. */
  readonly flush: {
    requestLog(): PromiseLike<void>;
    coverage(): PromiseLike<void>;
  };
  readonly runs: Runs;
}

/** The commands that take several transactions. Each call returns when the last one is answered. */
export interface Runs {
  advanceClock(
    by: { readonly seconds: number } | { readonly to: Instant },
    request: CommandRequest,
  ): PromiseLike<Answer>;
  testWebhook(
    requested: {
      readonly id: Id<'webhook'>;
      readonly event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> } | null;
    },
    request: CommandRequest,
  ): PromiseLike<Answer>;
  examineWebhook(
    requested: {
      readonly id: Id<'webhook'>;
      readonly cases?: readonly string[];
      readonly eventType?: string;
    },
    request: CommandRequest,
  ): PromiseLike<Answer>;
  forkOrganization(requested: { readonly name: string }, request: CommandRequest): PromiseLike<Answer>;
}
