import fc from 'fast-check';
import { expect, test } from 'vitest';
import { balancesOf } from '../model/balances.ts';
import { effort, isThorough } from '../support/effort.ts';
import { type Command, outcomesToMeet, sequence } from './commands.ts';
import { Sequence } from './driver.ts';
import { memoryOrganization } from './memory.ts';

/** More than model.test.ts runs on a database, and each outcome many times. */
const SEQUENCES = effort(1_000, 100_000);

/** What the server answers without asking a machine: replays, keys that are used again, requests of strangers. */
const decidedByServer = new Set<Command['do']>(['replay', 'reuse the key', 'as a stranger']);
const outcomesByServer = ['replayed', 'idempotency_key_reused'];

test('random lives of payments in memory are what the model says, at every step and in all books', async () => {
  const met = new Map<string, number>();
  const meet = (what: string, count: number) => met.set(what, (met.get(what) ?? 0) + count);
  await fc.assert(
    fc.asyncProperty(sequence, async (commands) => {
      const organization = memoryOrganization();
      const running = new Sequence(organization, 0);
      await running.run(
        commands
          .filter((command) => !decidedByServer.has(command.do))
          .map((command) => ({ ...command, isTwin: false })),
      );
      expectBooks(running, organization);
      for (const [outcome, count] of running.outcomes) meet(outcome, count);
      for (const { payment } of running.tracked) for (const { event } of payment.transitions) meet(event, 1);
    }),
    { numRuns: SEQUENCES },
  );
  const wanted = outcomesToMeet.filter((outcome) => !outcomesByServer.includes(outcome));
  // The rarest comes 8 times in a thousand sequences: too few to promise one in every ordinary run.
  if (isThorough) expect(wanted.filter((outcome) => !met.has(outcome))).toEqual([]);
});

/** Every account is the sum of what the model posts for each payment. */
function expectBooks(
  { tracked }: Sequence,
  { runner }: Pick<ReturnType<typeof memoryOrganization>, 'runner'>,
): void {
  const wanted = new Map<string, bigint>();
  for (const { payment } of tracked) {
    for (const [account, amount] of Object.entries(balancesOf(payment))) {
      const key = `${account} ${payment.currency}`;
      wanted.set(key, (wanted.get(key) ?? 0n) + amount);
    }
  }
  for (const [key, amount] of wanted) {
    const [account = '', currency = ''] = key.split(' ');
    if (runner.balance(account, currency) !== amount)
      throw new Error(`${key} is ${runner.balance(account, currency)}, and the model says ${amount}`);
  }
}
