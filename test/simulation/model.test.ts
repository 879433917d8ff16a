import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { balancesOf } from '../model/balances.ts';
import { type Payment, transitionsOf } from '../model/payments.ts';
import { auditRows, type Query } from '../support/audit.ts';
import { effort } from '../support/effort.ts';
import { testSeed } from '../support/seed.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import {
  createOrganization,
  ServerClient,
  type SimulationClient,
  type SimulationOrganization,
} from './clients.ts';
import { type Command, outcomesToMeet, sequence } from './commands.ts';
import { Sequence } from './driver.ts';

/** A failing run prints its own seed; the same seed gives the same sequences again. */
const RUNS_DEFAULT = effort(3, 100);
const RUNS = Number(process.env.SANDBANK_SIMULATION_RUNS ?? RUNS_DEFAULT);
/** Enough at once for the second lane of the engine, which opens for two dozen that wait. */
const SEQUENCES = 100;
/** Bundles at the same time: the batches of the server mix organizations, too. */
const LANES = 2;
const SHRINK_MS_MAX = 60_000;

describe.each(databaseKinds)('random lives of payments on %s', (kind) => {
  let server: Server;
  let stranger: SimulationClient;
  const audited: string[] = [];

  beforeAll(async () => {
    server = await sharedServer(kind);
    stranger = new ServerClient(server.app, (await tenant(server)).key);
  });

  /** Sessions of the server do without scans and hash joins; an auditor reads everything and wants them. */
  function asAuditor<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return server.database.transaction(async (connection) => {
      await connection.script(
        'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on',
      );
      return work((text) => connection.query({ name: '', text }, []));
    });
  }

  /** Sequences at the same time in a organization of their own, then the books of that organization. */
  async function runBundle(sequences: readonly Commands[]): Promise<readonly Sequence[]> {
    const organization = await createOrganization(server, stranger);
    const running = sequences.map((_commands, i) => new Sequence(organization, i));
    const ended = await Promise.allSettled(running.map((sequence, i) => sequence.run(sequences[i] ?? [])));
    ended.forEach((end, i) => {
      if (end.status === 'rejected') throw new FailedAt(i, end.reason);
    });
    await checkBooks(organization, running);
    await checkRows(organization, running);
    audited.push(organization.orgId);
    return running;
  }

  async function checkBooks(
    organization: SimulationOrganization,
    running: readonly Sequence[],
  ): Promise<void> {
    const wanted = new Map<string, bigint>();
    for (const { payment } of running.flatMap(({ tracked }) => tracked)) {
      for (const [account, amount] of Object.entries(balancesOf(payment))) {
        const key = `${account} ${payment.currency}`;
        wanted.set(key, (wanted.get(key) ?? 0n) + amount);
      }
    }
    const { body } = await organization.auditor.get('developer_api_balances');
    const accounts = body.accounts as readonly {
      account: string;
      currency: string;
      balance: number | string;
    }[];
    const found = accounts.map(({ account, currency, balance }) => `${account} ${currency} ${balance}`);
    const expected = accounts.map(({ account, currency }) => {
      return `${account} ${currency} ${wanted.get(`${account} ${currency}`) ?? 0n}`;
    });
    expect(found).toEqual(expected);
    const used = [...wanted].filter(([, amount]) => amount !== 0n).map(([key]) => key);
    expect(accounts.map(({ account, currency }) => `${account} ${currency}`)).toEqual(
      expect.arrayContaining(used),
    );
    const trial = body.trialBalance as readonly { amount: number }[];
    expect(trial.filter(({ amount }) => amount !== 0)).toEqual([]);
  }

  async function checkRows({ orgId }: SimulationOrganization, running: readonly Sequence[]): Promise<void> {
    const payments = running.flatMap(({ tracked }) => tracked).map(({ payment }) => payment);
    await asAuditor(async (query) => {
      expect(await auditRows(query, orgId)).toEqual([]);
      const counts = await query(`select
        (select count(*) from payments where org_id = '${orgId}')::integer as payments,
        (select count(*) from events where org_id = '${orgId}')::integer as events,
        (select count(*) from provider_events where org_id = '${orgId}' and outcome = 'applied')::integer as applied,
        (select count(*) from idempotency where org_id = '${orgId}')::integer as kept`);
      expect(counts).toEqual([
        {
          payments: payments.length,
          events: total(payments, eventsOf),
          applied: total(payments, appliedOf),
          kept: running.reduce((sum, { kept }) => sum + kept.length, 0),
        },
      ]);
    });
  }

  /** The smallest sequence that fails by itself, or among those it failed with, in words. */
  async function shrunk(seed: number, bundle: readonly Commands[], error: unknown): Promise<string> {
    const at = error instanceof FailedAt ? [error.at] : [...bundle.keys()];
    const settings = { interruptAfterTimeLimit: SHRINK_MS_MAX };
    for (const i of at) {
      const alone = await check(seed + i, (commands) => runBundle([commands]), settings);
      if (alone.failed) return wordsOf(alone);
    }
    for (const i of at.slice(0, 1)) {
      const among = await check(seed + i, (commands) => runBundle(bundle.with(i, commands)), settings);
      if (among.failed) return `Only among the others of its run: ${wordsOf(among)}`;
    }
    return `It did not fail again: ${error instanceof Error ? error.message : String(error)}`;
  }

  test('are what the model says, at every step and in all books', { timeout: 1_200_000 }, async () => {
    const totals = new Totals();
    const startedAt = performance.now();
    let runs = 0;
    const lane = async (): Promise<void> => {
      while (runs < RUNS) {
        const seed = testSeed + runs * SEQUENCES;
        runs += 1;
        const bundle = await Promise.all(Array.from({ length: SEQUENCES }, (_, i) => drawn(seed + i)));
        const failure = await runBundle(bundle).then(
          (running) => totals.add(running, bundle),
          async (error: unknown) => ({ error, words: await shrunk(seed, bundle, error) }),
        );
        if (failure) {
          const again = `SANDBANK_TEST_SEED=${seed} SANDBANK_SIMULATION_RUNS=1`;
          throw new Error(`The model and the server disagree; again with ${again}\n${failure.words}`, {
            cause: failure.error,
          });
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${kind}: seed ${testSeed}, ${runs} runs, ${totals.words()}, in ${seconds} s`);
    // Once more at the end, one after the other: nobody has touched the books of another since.
    await asAuditor(async (query) => {
      for (const orgId of audited) expect(await auditRows(query, orgId)).toEqual([]);
    });
    expect(totals.unmet()).toEqual([]);
  });
});

type Commands = readonly Command[];

/** Which sequence of a bundle failed. */
class FailedAt extends Error {
  readonly at: number;

  constructor(at: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.at = at;
  }
}

/** Each sequence has a seed of its own, so that one alone can be made again, and made smaller. */
function check(seed: number, run: (commands: Commands) => Promise<unknown>, settings: object = {}) {
  const property = fc.asyncProperty(sequence, async (commands) => {
    await run(commands);
  });
  return fc.check(property, { ...settings, seed, numRuns: 1, unbiased: true });
}

async function drawn(seed: number): Promise<Commands> {
  let drawnCommands: Commands = [];
  await check(seed, async (commands) => {
    drawnCommands = commands;
  });
  return drawnCommands;
}

function wordsOf({ counterexample, errorInstance, numShrinks }: Awaited<ReturnType<typeof check>>): string {
  const words = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return `${words}\nshrunk ${numShrinks} times to: ${JSON.stringify(counterexample?.[0])}`;
}

const eventsOf = ({ transitions }: Payment): number => transitions.length;

/** The provider reports every transition of a payment but its creation and a retry, and those of a dispute that stays open. */
const appliedOf = (payment: Payment): number =>
  transitionsOf(payment, 'payment').length -
  1 -
  payment.retries +
  payment.transitions.filter(
    ({ resource, action }) =>
      resource === 'dispute' && (action === 'submit_evidence' || action === 'escalate'),
  ).length;

function total(payments: readonly Payment[], count: (payment: Payment) => number): number {
  return payments.reduce((sum, payment) => sum + count(payment), 0);
}

/** What ran, and whether it was worth running: every state and every answer must have been met. */
class Totals {
  #sequences = 0;
  #commands = 0;
  #moves = 0;
  readonly #met = new Map<string, number>();

  add(running: readonly Sequence[], sequences: readonly Commands[]): void {
    this.#sequences += running.length;
    this.#commands += sequences.reduce((sum, commands) => sum + commands.length, 0);
    for (const { outcomes, tracked } of running) {
      for (const [outcome, count] of outcomes) this.#meet(outcome, count);
      for (const { payment } of tracked) {
        this.#moves += eventsOf(payment);
        for (const { event } of payment.transitions) this.#meet(event, 1);
      }
    }
  }

  #meet(what: string, count: number): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + count);
  }

  words(): string {
    return `${this.#sequences} sequences, ${this.#commands} commands, ${this.#moves} moves, ${this.#met.size} kinds of outcome`;
  }

  /** Asked only of runs so long that each of these is met many times over. */
  unmet(): readonly string[] {
    return this.#sequences < 1_000 ? [] : outcomesToMeet.filter((what) => !this.#met.has(what));
  }
}
