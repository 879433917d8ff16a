import type { Answer } from '../kernel/command.ts';

/** A value to continue with, or the answer that ends the run. */
export type Outcome<Value> = { readonly value: Value } | { readonly answer: Answer };

/**
 * A command of several transactions. Its states: begun, when the first command has claimed the idempotency key or the record;
 * stepped, when the work is done; finished, when the last command has stored the response. A process may die between
 * any two: the first command determines what happens then (`retakenAfterMs`, a lease, a cursor).
 */
export interface Run<Begun, Stepped = Begun> {
  begin(): Promise<Outcome<Begun>>;
  /** One unit of work. `again` means that another step follows; the run limits their number or duration. */
  step(begun: Begun): Promise<Outcome<Stepped> | 'again'>;
  finish(stepped: Stepped): Promise<Answer>;
}

export async function drive<Begun, Stepped>(run: Run<Begun, Stepped>): Promise<Answer> {
  const begun = await run.begin();
  if ('answer' in begun) return begun.answer;
  for (;;) {
    const stepped = await run.step(begun.value);
    if (stepped === 'again') continue;
    return 'answer' in stepped ? stepped.answer : run.finish(stepped.value);
  }
}

/** The outcome of the first command. A refusal or a replayed response ends the run. */
export function begunWith<Result, Begun>(
  answer: Answer<Result>,
  start: (result: Result) => Begun,
): Outcome<Begun> {
  return answer.code !== null || answer.isReplay ? { answer } : { value: start(answer.result) };
}
