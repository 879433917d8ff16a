export interface DeliveryMeasures {
  /** An attempt has ended; `retrying` is one that failed and has another before it. */
  attempted(outcome: 'succeeded' | 'retrying' | 'failed', seconds: number): void;
  /** An event has arrived at the first attempt, so long after the request that made it. */
  arrived(seconds: number): void;
  /** An endpoint was given up. */
  disabled(reason: 'gone' | 'failing'): void;
}

export interface RequestLogMeasures {
  /** Requests that were counted and not kept, because there were too many of them or they could not be written. */
  dropped(requests: number): void;
}

export interface RetentionMeasures {
  removed(what: string, rows: number): void;
  /** All that was old enough is gone. */
  finished(): void;
}

/** Is told of every statement as it begins; what it returns is told of its end, and of what went wrong. */
export type StatementObserver = (name: string) => (failure?: unknown) => void;

/**
 * What the parts of a server know of traces. Where nothing is traced there is no such object at all: a request then costs a look
 * whether there is one.
 */
export type Fields = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** What the next in line is told, so that its spans become children of this one. */
  readonly traceparent: string;
  /** Does some work in which this span is the current one. */
  within<Result>(work: () => Result): Result;
  name(text: string): void;
  /** The first end counts. A problem is a word, never a message that could hold a secret. */
  end(fields?: Fields, problem?: string): void;
}

/** A command from its submission to its answer. */
export interface CommandSpan {
  end(outcome: string): void;
}

export interface EngineTracing {
  command(name: string, requestId: string): CommandSpan;
  /** One batch serves many commands: it is told with the first of them, and linked with the others. */
  batch<Result>(
    commands: readonly (CommandSpan | undefined)[],
    run: () => PromiseLike<Result>,
  ): PromiseLike<Result>;
}

/** An attempt to deliver an event that a request has made, perhaps on another node and long ago. */
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
