import { createInterface } from 'node:readline/promises';
import { wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

/** Asks on a terminal. Where nobody can answer, `--yes` must say it. */
export async function confirm({ stdin, stderr, out }: Session, question: string): Promise<boolean> {
  if (stdin.isTTY !== true || out.isJson)
    throw wrongUsage(`${question} Add --yes to do it without being asked.`);
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim());
  } finally {
    asking.close();
  }
}
