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
import { type Command, requiredOutcomes, sequence } from './commands.ts';
import { Sequence } from './driver.ts';

/** A failing run prints its seed; the same seed reproduces the same sequences. */
const RUNS_DEFAULT = effort(3, 100);
const RUNS = Number(process.env.SANDBANK_SIMULATION_RUNS ?? RUNS_DEFAULT);
/** Enough concurrent requests for a second batch in flight, which the engine starts when 24 commands wait. */
const SEQUENCES = 100;
/** Bundles run concurrently, so that engine batches mix organizations. */
const BUNDLES_AT_ONCE = 2;
const SHRINK_MS_MAX = 60_000;

describe.each(databaseKinds)('random payment sequences on %s', (kind) => {
  let server: Server;
  let stranger: SimulationClient;
  const audited: string[] = [];

  beforeAll(async () => {
    server = await sharedServer(kind);
    stranger = new ServerClient(server.app, (await tenant(server)).key);
  });

  /** Server sessions disable sequential scans and hash joins; the audit reads all rows and needs them. */
  function asAuditor<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return server.database.transaction(async (connection) => {
      await connection.script(
        'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on',
      );
      return work((text) => connection.query({ name: '', text }, []));
    });
  }

  /** Runs sequences concurrently in a new organization, then checks its balances and rows. */
  async function runBundle(sequences: readonly Commands[]): Promise<readonly Sequence[]> {
    const organization = await createOrganization(server, stranger);
    const running = sequences.map((_commands, i) => new Sequence(organization, i));
    const ended = await Promise.allSettled(running.map((sequence, i) => sequence.run(sequences[i] ?? [])));
    ended.forEach((end, i) => {
      if (end.status === 'rejected') throw new FailedAt(i, end.reason);
    });
    await checkBalances(organization, running);
    await checkRows(organization, running);
    audited.push(organization.orgId);
    return running;
  }

  async function checkBalances(
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
        (select count(*) from idempotency where org_id = '${orgId}')::integer as stored`);
      expect(counts).toEqual([
        {
          payments: payments.length,
          events: total(payments, eventsOf),
          applied: total(payments, appliedOf),
          stored: running.reduce((sum, { replayable }) => sum + replayable.length, 0),
        },
      ]);
    });
  }

  /** Describes the smallest sequence that fails alone, or else together with the others of its bundle. */
  async function shrunk(seed: number, bundle: readonly Commands[], error: unknown): Promise<string> {
    const at = error instanceof FailedAt ? [error.at] : [...bundle.keys()];
    const settings = { interruptAfterTimeLimit: SHRINK_MS_MAX };
    for (const i of at) {
      const alone = await check(seed + i, (commands) => runBundle([commands]), settings);
      if (alone.failed) return descriptionOf(alone);
    }
    for (const i of at.slice(0, 1)) {
      const among = await check(seed + i, (commands) => runBundle(bundle.with(i, commands)), settings);
      if (among.failed) return `Fails only together with its bundle: ${descriptionOf(among)}`;
    }
    return `Not reproduced: ${error instanceof Error ? error.message : String(error)}`;
  }

  test('match the model at every step and in all balances', { timeout: 1_200_000 }, async () => {
    const totals = new Totals();
    const startedAt = performance.now();
    let runs = 0;
    const runBundles = async (): Promise<void> => {
      while (runs < RUNS) {
        const seed = testSeed + runs * SEQUENCES;
        runs += 1;
        const bundle = await Promise.all(Array.from({ length: SEQUENCES }, (_, i) => drawn(seed + i)));
        const failure = await runBundle(bundle).then(
          (running) => totals.add(running, bundle),
          async (error: unknown) => ({ error, description: await shrunk(seed, bundle, error) }),
        );
        if (failure) {
          const again = `SANDBANK_TEST_SEED=${seed} SANDBANK_SIMULATION_RUNS=1`;
          throw new Error(
            `The server differs from the model. Reproduce with ${again}\n${failure.description}`,
            {
              cause: failure.error,
            },
          );
        }
      }
    };
    await Promise.all(Array.from({ length: BUNDLES_AT_ONCE }, runBundles));
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${kind}: seed ${testSeed}, ${runs} runs, ${totals.summary()}, in ${seconds} s`);
    // Check all organizations again at the end: no sequence has changed rows of another organization.
    await asAuditor(async (query) => {
      for (const orgId of audited) expect(await auditRows(query, orgId)).toEqual([]);
    });
    expect(totals.missing()).toEqual([]);
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

/** Each sequence has its own seed, so that it can be reproduced and shrunk alone. */
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

function descriptionOf({
  counterexample,
  errorInstance,
  numShrinks,
}: Awaited<ReturnType<typeof check>>): string {
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return `${message}\nshrunk ${numShrinks} times to: ${JSON.stringify(counterexample?.[0])}`;
}

const eventsOf = ({ transitions }: Payment): number => transitions.length;

/** The provider reports every payment transition except creation and retry, and the dispute transitions that leave it open. */
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

/** Counts commands and outcomes: a long run must produce every required outcome. */
class Totals {
  #sequences = 0;
  #commands = 0;
  #transitions = 0;
  readonly #counts = new Map<string, number>();

  add(running: readonly Sequence[], sequences: readonly Commands[]): void {
    this.#sequences += running.length;
    this.#commands += sequences.reduce((sum, commands) => sum + commands.length, 0);
    for (const { outcomes, tracked } of running) {
      for (const [outcome, count] of outcomes) this.#record(outcome, count);
      for (const { payment } of tracked) {
        this.#transitions += eventsOf(payment);
        for (const { event } of payment.transitions) this.#record(event, 1);
      }
    }
  }

  #record(what: string, count: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  summary(): string {
    return `${this.#sequences} sequences, ${this.#commands} commands, ${this.#transitions} transitions, ${this.#counts.size} distinct outcomes`;
  }

  /** Checked only in runs long enough to produce each of these many times. */
  missing(): readonly string[] {
    return this.#sequences < 1_000 ? [] : requiredOutcomes.filter((what) => !this.#counts.has(what));
  }
}
