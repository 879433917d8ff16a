/**
 * `--scale`: which operations are slower with a million payments. Two servers run, one on a database with a sample of 1,000
 * payments, one on a database with copies of that sample. Every benchmark alternates between both, and the result is the ratio
 * within a round.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { openPostgres } from '../src/db/postgres.ts';
import { Seals } from '../src/engine/seals.ts';
import { Sealer } from '../src/workers/sealer.ts';
import type { Postgres } from '../test/support/postgres.ts';
import { startServer } from '../test/support/processes.ts';
import { API_KEY } from './api.ts';
import { runLoad } from './load.ts';
import { type Measured, median, roundsThatCount } from './measurement.ts';
import { multiply } from './multiply.ts';
import { waitForQuiet } from './neighbours.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequest, readRequests } from './requests.ts';
import {
  createSample,
  openReceiver,
  SAMPLE,
  type Side,
  scaleSeed,
  sideOf,
  WEBHOOK_APP_KEY,
} from './scale-sides.ts';
import { value } from './value.ts';

const BURST = 1_000;
const WARMUP_MS = 500;
const TARGET = 0.95;
const DELIVERIES_PATH = '/_api/developer_api_webhook_deliveries';
/** Half of the 11.7 KB that a payment took with all its rows in November 2026. */
const BYTES_PER_PAYMENT_MAX = 5_850;

interface ScaleOptions {
  readonly payments: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly profile: string | undefined;
}

export interface ScaleContext extends ScaleOptions {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly cleanups: (() => Promise<unknown>)[];
}

interface Benchmark {
  readonly what: string;
  readonly target?: number;
  run(side: Side, seconds: number): Promise<{ ratePerSecond: number; p50Ms: number; p99Ms: number }>;
}

interface ScaleMeasured {
  readonly what: string;
  readonly target: number | undefined;
  readonly small: number;
  readonly large: number;
  readonly ratio: number;
  readonly p99SmallMs: number;
  readonly p99LargeMs: number;
  readonly isQuiet: boolean;
}

export interface Scale {
  readonly payments: number;
  readonly gigabytes: number;
  readonly buildSeconds: number;
  readonly sealedPerSecond: number;
  readonly measured: readonly ScaleMeasured[];
}

const list = (query: (side: Side) => string, apiKey = API_KEY): Benchmark['run'] =>
  reads((side) => [query(side)], apiKey);

const BENCHMARKS: readonly Benchmark[] = [
  {
    what: 'creates',
    target: TARGET,
    run: (side, seconds) => load(side, seconds, (connection) => createRequests(API_KEY, connection)),
  },
  { what: 'first page of payments', target: TARGET, run: list(() => PAYMENTS_PATH) },
  { what: 'first page of payments in one state', run: list(() => `${PAYMENTS_PATH}?status=settled`) },
  {
    what: 'first page of customer payments',
    run: list(({ customerId }) => `${PAYMENTS_PATH}?customerId=${customerId}`),
  },
  {
    what: 'page of 100 in the middle',
    run: list(({ middleCursor }) => `${PAYMENTS_PATH}?limit=100&cursor=${middleCursor}`),
  },
  { what: 'GET payment, 1,000 different ones', run: reads(({ paths }) => paths) },
  {
    what: 'payment history, 1,000 different ones',
    target: TARGET,
    run: reads(({ paths }) => paths.map((one) => `${one}/history`)),
  },
  { what: 'balances', run: list(() => '/_api/developer_api_balances') },
  { what: 'first page of ledger entries', run: list(() => '/_api/developer_api_ledger_entries') },
  { what: 'first page of events', run: list(() => '/_api/developer_api_webhook_events') },
  { what: 'first page of deliveries', run: list(() => DELIVERIES_PATH, WEBHOOK_APP_KEY) },
  {
    what: 'first page of failed deliveries, of which there are none',
    run: list(() => `${DELIVERIES_PATH}?status=failed`, WEBHOOK_APP_KEY),
  },
  { what: 'deliveries of an application that has none', run: list(() => DELIVERIES_PATH) },
  {
    what: 'walks in one request, transitions',
    run: (side, seconds) =>
      load(side, seconds, (connection) => side.walks.requests(API_KEY, connection, 'at once')),
  },
  {
    what: 'deliveries of 1,000 concurrent payments',
    target: TARGET,
    run: ({ caller }) => caller.burst(BURST),
  },
];

export async function measureScale(stage: ScaleContext): Promise<Scale> {
  const { postgres, folder, log, cleanups, payments } = stage;
  const receiver = await openReceiver(cleanups);
  const seed = path.join(folder, 'scale-seed.json');
  writeFileSync(seed, JSON.stringify(scaleSeed(receiver.url)));
  const databases = {
    small: await postgres.createDatabase('sandbank_small'),
    large: await postgres.createDatabase('sandbank_large'),
  };
  const start = async (databaseUrl: string, nodeArgs: readonly string[] = []) => {
    const server = await startServer({
      databaseUrl,
      seed,
      nodeArgs,
      env: { SANDBANK_PRIVATE_WEBHOOKS: 'on' },
    });
    cleanups.push(() => server.stop());
    return server;
  };

  log(`creating a sample of ${SAMPLE} payments in both databases`);
  for (const databaseUrl of Object.values(databases)) {
    const server = await start(databaseUrl);
    await createSample(server.url, receiver);
    await server.stop();
  }
  const startedAt = performance.now();
  await multiply(databases.large, Math.round(payments / SAMPLE) - 1, log);
  const buildSeconds = (performance.now() - startedAt) / 1000;
  const gigabytes = Number(await value(databases.large, 'select pg_database_size(current_database())')) / 1e9;
  log(
    `${payments.toLocaleString('en-US')} payments, ${gigabytes.toFixed(1)} GB, in ${buildSeconds.toFixed(0)} s`,
  );
  await value(databases.small, 'vacuum (analyze, freeze)');
  const sealedPerSecond = await sealAll(databases.large, log);

  const profiled = stage.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${stage.profile}`];
  const small = await sideOf(databases.small, (await start(databases.small)).url, receiver);
  const large = await sideOf(databases.large, (await start(databases.large, profiled)).url, receiver);
  cleanups.push(() => Promise.all([small.caller.close(), large.caller.close()]));

  const rounds = await runRounds(stage, small, large);
  return { payments, gigabytes, buildSeconds, sealedPerSecond, measured: summarize(rounds) };
}

type Rounds = ReadonlyMap<Benchmark, { readonly small: Measured; readonly large: Measured }[]>;

async function runRounds(stage: ScaleContext, small: Side, large: Side): Promise<Rounds> {
  const rounds = new Map<Benchmark, { small: Measured; large: Measured }[]>();
  for (let number = 0; number <= stage.rounds; number += 1) {
    for (const benchmark of BENCHMARKS) {
      const measure = async (side: Side): Promise<Measured> => {
        await value(stage.postgres.url, 'checkpoint');
        const { isQuiet } = await waitForQuiet();
        return { ...(await benchmark.run(side, stage.seconds)), isQuiet };
      };
      // The second run finds warmer caches, so the order alternates.
      const first = number % 2 === 0 ? await measure(small) : undefined;
      const onLarge = await measure(large);
      const pair = { small: first ?? (await measure(small)), large: onLarge };
      // The first round is a warm-up for plans, caches and pages of the large database.
      if (number === 0) continue;
      rounds.set(benchmark, [...(rounds.get(benchmark) ?? []), pair]);
      const ratio = pair.large.ratePerSecond / pair.small.ratePerSecond;
      stage.log(`round ${number} of ${stage.rounds}: ${benchmark.what}: ${ratio.toFixed(2)}`);
    }
  }
  return rounds;
}

function summarize(rounds: Rounds): readonly ScaleMeasured[] {
  return [...rounds].map(([{ what, target }, pairs]) => {
    const { counted, isQuiet } = roundsThatCount(pairs, (pair) => pair.small.isQuiet && pair.large.isQuiet);
    const medianOf = (of: (pair: (typeof pairs)[number]) => number) => median(counted.map(of));
    return {
      what,
      target,
      small: medianOf((pair) => pair.small.ratePerSecond),
      large: medianOf((pair) => pair.large.ratePerSecond),
      ratio: medianOf((pair) => pair.large.ratePerSecond / pair.small.ratePerSecond),
      p99SmallMs: medianOf((pair) => pair.small.p99Ms),
      p99LargeMs: medianOf((pair) => pair.large.p99Ms),
      isQuiet,
    };
  });
}

/** Seals the whole audit trail before the rounds. A server would do it in the background and take database time from every round. */
async function sealAll(databaseUrl: string, log: (line: string) => void): Promise<number> {
  const startedAt = performance.now();
  const database = openPostgres(databaseUrl, () => undefined);
  const onError = (error: unknown): never => {
    throw error;
  };
  try {
    await new Sealer({ seals: new Seals(database), wallClock: Date.now, onError }).seal();
  } finally {
    await database.close();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const rows = Number(await value(databaseUrl, 'select count(*) from audit'));
  log(`${rows.toLocaleString('en-US')} audit rows sealed in ${seconds.toFixed(0)} s`);
  return rows / seconds;
}

function reads(pathsOf: (side: Side) => readonly string[], apiKey = API_KEY): Benchmark['run'] {
  return (side, seconds) => {
    const paths = pathsOf(side);
    const [only] = paths;
    if (paths.length > 1 || only === undefined)
      return load(side, seconds, (connection) => readRequests(apiKey, paths, connection));
    const request = readRequest(apiKey, only);
    return load(side, seconds, () => () => request);
  };
}

function load({ url }: Side, seconds: number, requestsFor: (connection: number) => NextRequest) {
  return runLoad({ url, warmupMs: WARMUP_MS, measureMs: seconds * 1000, requestsFor });
}

/** The section of RESULTS.md that a run with `--scale` replaces. Other runs do not change it. */
export const SCALE_HEADING = '## At a million payments';

export function renderScale(scale: Scale, date: string): string {
  const number = (figure: number) => Math.round(figure).toLocaleString('en-US');
  const lines = scale.measured.map(
    ({ what, target, small, large, ratio, p99SmallMs, p99LargeMs, isQuiet }) => {
      const met = target === undefined ? '' : ratio >= target ? 'yes' : '**missed**';
      const cells = [
        what + (isQuiet ? '' : ' *'),
        number(small),
        number(large),
        ratio.toFixed(2),
        target ?? '',
        met,
      ];
      return `| ${[...cells, p99SmallMs.toFixed(1), p99LargeMs.toFixed(1)].join(' | ')} |`;
    },
  );
  const bytes = `| database size per payment | | ${kilobytes(bytesPerPayment(scale))} | | at most ${kilobytes(BYTES_PER_PAYMENT_MAX)} | ${bytesPerPayment(scale) <= BYTES_PER_PAYMENT_MAX ? 'yes' : '**missed**'} | | |`;
  return `${SCALE_HEADING}

Measured on ${date} with \`npm run bench -- --scale\`: ${number(scale.payments)} payments in one organization,
${scale.gigabytes.toFixed(1)} GB, created in ${number(scale.buildSeconds)} s, compared with a database of ${number(SAMPLE)}. Results per second; the ratio is the median of
the ratios within a round; p99 in milliseconds. Sealing ran before, at ${number(scale.sealedPerSecond)} audit rows per second; * = started under other load.

| measurement | ${number(SAMPLE)} payments | ${number(scale.payments)} | ratio | target | met? | p99 | p99 |
|---|---|---|---|---|---|---|---|
${[...lines, bytes].join('\n')}
`;
}

export function scaleMissed(scale: Scale): readonly string[] {
  const missed = scale.measured
    .filter(({ target, ratio }) => target !== undefined && ratio < target)
    .map(({ what, ratio, target }) => `${what} at a million payments: ${ratio.toFixed(2)}, target ${target}`);
  if (bytesPerPayment(scale) <= BYTES_PER_PAYMENT_MAX) return missed;
  const size = kilobytes(bytesPerPayment(scale));
  return [
    ...missed,
    `database size per payment: ${size}, target at most ${kilobytes(BYTES_PER_PAYMENT_MAX)}`,
  ];
}

function bytesPerPayment({ gigabytes, payments }: Scale): number {
  return (gigabytes * 1e9) / payments;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(2)} KB`;
}
