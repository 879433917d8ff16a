import type { Forge, Message } from './forge.ts';
import type { Outcome } from './schema.ts';
import type { Dribble, ExaminationAnswer } from './transport.ts';

/** One request and what came of it. */
export interface Exchange {
  readonly message: Sent;
  readonly answer: ExaminationAnswer;
  /** Others were under way at the same time: how long it took says little. */
  readonly isCrowded: boolean;
}

export interface Sent extends Omit<Message, 'id' | 'sentAt'> {
  readonly method?: 'GET';
  readonly dribble?: Dribble;
  /** Signatures that would be good for it, and that were not sent: an answer that names one gives it away. */
  readonly untold?: readonly string[];
}

export interface Bench {
  readonly forge: Forge;
  /** Sends one request. */
  readonly ask: (message: Sent) => Promise<Exchange>;
}

export interface Verdict {
  readonly outcome: Outcome;
  readonly advice: string | null;
  readonly example: string | null;
  /** What came, where the statuses alone do not tell it. */
  readonly received?: string;
}

/** How long answers may take, in milliseconds. */
export interface Patience {
  readonly good: number;
  readonly max: number;
}

/** A case that sends something of its own, and judges what came of it. */
export interface SendingCase {
  readonly why: string;
  readonly expected: string;
  readonly run: (bench: Bench) => Promise<readonly Exchange[]>;
  readonly judge: (exchanges: readonly Exchange[]) => Verdict;
}

/** A case that sends nothing: it looks at what came of all the others. */
export interface WatchingCase {
  readonly why: string;
  readonly expected: string;
  /** Those of all exchanges that the verdict is about. */
  readonly watch: (all: readonly Exchange[], bench: Bench, patience: Patience) => readonly Exchange[];
  readonly judge: (exchanges: readonly Exchange[], bench: Bench, patience: Patience) => Verdict;
}

export const passed: Verdict = { outcome: 'passed', advice: null, example: null };

export function statusOf(answer: ExaminationAnswer): number | null {
  return 'status' in answer ? answer.status : null;
}

export function isAccepted({ answer }: Exchange): boolean {
  const status = statusOf(answer);
  return status !== null && status >= 200 && status < 300;
}
