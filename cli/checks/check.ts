import type { Session } from '../session.ts';

/** The result of one check. */
export interface Finding {
  readonly name: string;
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** How to fix it; null when there is nothing to fix. */
  readonly fix: string | null;
}

export interface CheckContext {
  readonly session: Session;
  /** The value of `--data`. */
  readonly data: string | undefined;
}

export const ok = (name: string, message: string): Finding => ({ name, outcome: 'ok', message, fix: null });
export const warn = (name: string, message: string, fix: string): Finding => ({
  name,
  outcome: 'warn',
  message,
  fix,
});
export const fail = (name: string, message: string, fix: string): Finding => ({
  name,
  outcome: 'fail',
  message,
  fix,
});
