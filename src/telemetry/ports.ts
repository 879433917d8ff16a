export interface DeliveryMeasures {
  /** An attempt has ended; `retrying` means that it failed and another attempt follows. */
  attempted(outcome: 'succeeded' | 'retrying' | 'failed', seconds: number): void;
  /** An event has arrived at the first attempt; the time since the request that caused it. */
  arrived(seconds: number): void;
  /** An endpoint was disabled. */
  disabled(reason: 'gone' | 'failing'): void;
}

export interface RequestLogMeasures {
  /** Requests that were counted but not stored, because there were too many or the write failed. */
  dropped(requests: number): void;
}

export interface RetentionMeasures {
  removed(what: string, rows: number): void;
  /** A retention round has deleted all expired rows. */
  finished(): void;
}

/** Called when a statement begins; the returned function is called when it ends, with the error if it failed. */
export type StatementObserver = (name: string) => (failure?: unknown) => void;

/**
 * The tracing interface of the server's components. Without tracing the object is undefined, so a request costs one check.
 */
export type Fields = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** The W3C header value for downstream requests, so that their spans become children of this one. */
  readonly traceparent: string;
  /** Runs `work` with this span as the current one. */
  within<Result>(work: () => Result): Result;
  name(text: string): void;
  /** Only the first call counts. `problem` is a code, never a message, which could contain a secret. */
  end(fields?: Fields, problem?: string): void;
}

/** The span of a command, from its submission to its answer. */
export interface CommandSpan {
  end(outcome: string): void;
}

export interface EngineTracing {
  command(name: string, requestId: string): CommandSpan;
  /** One batch runs many commands: its span is a child of the first command's span and linked with the others. */
  batch<Result>(
    commands: readonly (CommandSpan | undefined)[],
    run: () => PromiseLike<Result>,
  ): PromiseLike<Result>;
}

/** A delivery attempt for an event; its request may have run on another node, long ago. */
export interface TracedAttempt {
  readonly requestId: string;
  readonly eventType: string;
  readonly host: string;
  readonly fields: Fields;
}

export interface DeliveryTracing {
  attempt(attempt: TracedAttempt): Span;
}

export interface RequestTracing {
  request(requestId: string, traceparent: string | undefined): Span;
}
