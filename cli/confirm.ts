import { createInterface } from 'node:readline/promises';
import { wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

/** Asks for confirmation on a terminal. Without a terminal, `--yes` is required. */
export async function confirm({ stdin, stderr, out }: Session, question: string): Promise<boolean> {
  if (stdin.isTTY !== true || out.isJson) throw wrongUsage(`${question} Add --yes to confirm.`);
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}
