import type { Session } from '../session.ts';

/** What one look has found. */
export interface Finding {
  readonly name: string;
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly words: string;
  /** What to do about it; null when there is nothing to do. */
  readonly mend: string | null;
}

export interface Looking {
  readonly session: Session;
  /** What was given as `--data`. */
  readonly data: string | undefined;
}

export const ok = (name: string, words: string): Finding => ({ name, outcome: 'ok', words, mend: null });
export const warn = (name: string, words: string, mend: string): Finding => ({
  name,
  outcome: 'warn',
  words,
  mend,
});
export const fail = (name: string, words: string, mend: string): Finding => ({
  name,
  outcome: 'fail',
  words,
  mend,
});
