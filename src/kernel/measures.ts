/** What the parts of a server tell whoever measures them. Where nobody measures, nobody is told. */

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
