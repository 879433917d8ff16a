import fc from 'fast-check';
import { expect, test } from 'vitest';
import { balancesOf } from '../model/balances.ts';
import { effort, isThorough } from '../support/effort.ts';
import { type Command, requiredOutcomes, sequence } from './commands.ts';
import { Sequence } from './driver.ts';
import { memoryOrganization } from './memory.ts';

/** More than model.test.ts runs on a database; produces each outcome many times. */
const SEQUENCES = effort(1_000, 100_000);

/** Commands that the server answers without a state machine: replays, reused keys, requests of another organization. */
const decidedByServer = new Set<Command['do']>(['replay', 'reuse the key', 'other organization']);
const outcomesByServer = ['replayed', 'idempotency_key_reused'];

test('random payment sequences in memory match the model at every step and in all balances', async () => {
  const counts = new Map<string, number>();
  const record = (what: string, count: number) => counts.set(what, (counts.get(what) ?? 0) + count);
  await fc.assert(
    fc.asyncProperty(sequence, async (commands) => {
      const organization = memoryOrganization();
      const running = new Sequence(organization, 0);
      await running.run(
        commands
          .filter((command) => !decidedByServer.has(command.do))
          .map((command) => ({ ...command, isTwin: false })),
      );
      expectBalances(running, organization);
      for (const [outcome, count] of running.outcomes) record(outcome, count);
      for (const { payment } of running.tracked)
        for (const { event } of payment.transitions) record(event, 1);
    }),
    { numRuns: SEQUENCES },
  );
  const wanted = requiredOutcomes.filter((outcome) => !outcomesByServer.includes(outcome));
  // The rarest outcome has 8 occurrences in 1,000 sequences: too few to require it in every ordinary run.
  if (isThorough) expect(wanted.filter((outcome) => !counts.has(outcome))).toEqual([]);
});

/** Every account balance is the sum of the model's postings for each payment. */
function expectBalances(
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
      throw new Error(`${key} is ${runner.balance(account, currency)}, expected ${amount}`);
  }
}
