import type { Message, RequestFactory } from './request-factory.ts';
import type { Outcome } from './schema.ts';
import type { Dribble, ExaminationAnswer } from './transport.ts';

/** One request and its response. */
export interface Exchange {
  readonly message: Sent;
  readonly answer: ExaminationAnswer;
  /** Other requests were in flight at the same time, so the duration is not meaningful. */
  readonly isConcurrent: boolean;
}

interface Sent extends Omit<Message, 'id' | 'sentAt'> {
  readonly method?: 'GET';
  readonly dribble?: Dribble;
  /** Valid signatures that the request does not contain: a response that contains one leaks it. */
  readonly unsentSignatures?: readonly string[];
}

export interface TestContext {
  readonly factory: RequestFactory;
  /** Sends one request. */
  readonly send: (message: Sent) => Promise<Exchange>;
}

export interface Verdict {
  readonly outcome: Outcome;
  readonly advice: string | null;
  readonly example: string | null;
  /** A summary of the responses, where the statuses alone are not enough. */
  readonly received?: string;
}

/** Response time thresholds, in milliseconds. */
export interface LatencyThresholds {
  readonly good: number;
  readonly max: number;
}

/** A case that sends requests and judges the responses. */
export interface ActiveCase {
  readonly why: string;
  readonly expected: string;
  readonly run: (context: TestContext) => Promise<readonly Exchange[]>;
  readonly judge: (exchanges: readonly Exchange[]) => Verdict;
}

/** A case that sends nothing and judges the exchanges of the other cases. */
export interface PassiveCase {
  readonly why: string;
  readonly expected: string;
  /** The exchanges that the verdict is about. */
  readonly select: (
    all: readonly Exchange[],
    context: TestContext,
    latency: LatencyThresholds,
  ) => readonly Exchange[];
  readonly judge: (
    exchanges: readonly Exchange[],
    context: TestContext,
    latency: LatencyThresholds,
  ) => Verdict;
}

export const passed: Verdict = { outcome: 'passed', advice: null, example: null };

export function statusOf(answer: ExaminationAnswer): number | null {
  return 'status' in answer ? answer.status : null;
}

export function isAccepted({ answer }: Exchange): boolean {
  const status = statusOf(answer);
  return status !== null && status >= 200 && status < 300;
}
