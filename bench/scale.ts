/**
 * `--scale`: what becomes slower when there are a million payments. Two servers stand side by side, one on a database with a
 * sample of a thousand payments, one on a database with copies of that sample; every contender runs on both in turn, and the
 * ratio within a round is what counts.
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
import { type Measured, median } from './measurement.ts';
import { multiply } from './multiply.ts';
import { waitForQuiet } from './neighbours.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequest, readRequests } from './requests.ts';
import { makeSample, openReceiver, SAMPLE, type Side, scaleSeed, sideOf } from './scale-sides.ts';
import { value } from './value.ts';

const BURST = 1_000;
const WARMUP_MS = 500;

export interface ScaleOptions {
  readonly payments: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly profile: string | undefined;
}

export interface ScaleStage extends ScaleOptions {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly cleanups: (() => Promise<unknown>)[];
}

interface Contender {
  readonly what: string;
  readonly bar?: number;
  run(side: Side, seconds: number): Promise<{ ratePerSecond: number; p50Ms: number; p99Ms: number }>;
}

export interface ScaleMeasured {
  readonly what: string;
  readonly bar: number | undefined;
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

const list = (query: (side: Side) => string): Contender['run'] => reads((side) => [query(side)]);

const CONTENDERS: readonly Contender[] = [
  {
    what: 'creates',
    bar: 0.9,
    run: (side, seconds) => load(side, seconds, (connection) => createRequests(API_KEY, connection)),
  },
  { what: 'first page of payments', bar: 0.9, run: list(() => PAYMENTS_PATH) },
  { what: 'first page of payments in one state', run: list(() => `${PAYMENTS_PATH}?status=settled`) },
  {
    what: 'first page of the payments of a customer',
    run: list(({ customerId }) => `${PAYMENTS_PATH}?customerId=${customerId}`),
  },
  {
    what: 'a page in the middle, of 100',
    run: list(({ middleCursor }) => `${PAYMENTS_PATH}?limit=100&cursor=${middleCursor}`),
  },
  { what: 'GET of one payment, over 1,000 of them', run: reads(({ paths }) => paths) },
  {
    what: 'history of a payment, over 1,000 of them',
    run: reads(({ paths }) => paths.map((one) => `${one}/history`)),
  },
  { what: 'balances', run: list(() => '/_api/developer_api_balances') },
  { what: 'first page of ledger entries', run: list(() => '/_api/developer_api_ledger_entries') },
  { what: 'first page of events', run: list(() => '/_api/developer_api_webhook_events') },
  { what: 'first page of deliveries', run: list(() => '/_api/developer_api_webhook_deliveries') },
  {
    what: 'first page of failed deliveries',
    run: list(() => '/_api/developer_api_webhook_deliveries?status=failed'),
  },
  {
    what: 'walks in one request, moves',
    run: (side, seconds) =>
      load(side, seconds, (connection) => side.walks.requests(API_KEY, connection, 'at once')),
  },
  { what: 'deliveries of 1,000 payments made at once', run: ({ caller }) => caller.burst(BURST) },
];

export async function measureScale(stage: ScaleStage): Promise<Scale> {
  const { postgres, folder, say, cleanups, payments } = stage;
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

  say(`making a sample of ${SAMPLE} payments, twice`);
  for (const databaseUrl of Object.values(databases)) {
    const server = await start(databaseUrl);
    await makeSample(server.url, receiver);
    await server.stop();
  }
  const startedAt = performance.now();
  await multiply(databases.large, Math.round(payments / SAMPLE) - 1, say);
  const buildSeconds = (performance.now() - startedAt) / 1000;
  const gigabytes = Number(await value(databases.large, 'select pg_database_size(current_database())')) / 1e9;
  say(
    `${payments.toLocaleString('en-US')} payments, ${gigabytes.toFixed(1)} GB, in ${buildSeconds.toFixed(0)} s`,
  );
  await value(databases.small, 'vacuum (analyze, freeze)');
  const sealedPerSecond = await sealAll(databases.large, say);

  const profiled = stage.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${stage.profile}`];
  const small = await sideOf(databases.small, (await start(databases.small)).url, receiver);
  const large = await sideOf(databases.large, (await start(databases.large, profiled)).url, receiver);
  cleanups.push(() => Promise.all([small.caller.close(), large.caller.close()]));

  const rounds = await runRounds(stage, small, large);
  return { payments, gigabytes, buildSeconds, sealedPerSecond, measured: summarize(rounds) };
}

type Rounds = ReadonlyMap<Contender, { readonly small: Measured; readonly large: Measured }[]>;

async function runRounds(stage: ScaleStage, small: Side, large: Side): Promise<Rounds> {
  const rounds = new Map<Contender, { small: Measured; large: Measured }[]>();
  for (let number = 0; number <= stage.rounds; number += 1) {
    for (const contender of CONTENDERS) {
      const measure = async (side: Side): Promise<Measured> => {
        await value(stage.postgres.url, 'checkpoint');
        const { isQuiet } = await waitForQuiet();
        return { ...(await contender.run(side, stage.seconds)), isQuiet };
      };
      // Who comes second finds a warmer machine, so they take turns.
      const first = number % 2 === 0 ? await measure(small) : undefined;
      const onLarge = await measure(large);
      const pair = { small: first ?? (await measure(small)), large: onLarge };
      // The first round warms up: plans, caches, the pages of the large database.
      if (number === 0) continue;
      rounds.set(contender, [...(rounds.get(contender) ?? []), pair]);
      const ratio = pair.large.ratePerSecond / pair.small.ratePerSecond;
      stage.say(`round ${number} of ${stage.rounds}: ${contender.what}: ${ratio.toFixed(2)}`);
    }
  }
  return rounds;
}

function summarize(rounds: Rounds): readonly ScaleMeasured[] {
  return [...rounds].map(([{ what, bar }, pairs]) => {
    const quiet = pairs.filter((pair) => pair.small.isQuiet && pair.large.isQuiet);
    const counted = quiet.length >= 2 ? quiet : pairs;
    const middle = (of: (pair: (typeof counted)[number]) => number) => median(counted.map(of));
    return {
      what,
      bar,
      small: middle((pair) => pair.small.ratePerSecond),
      large: middle((pair) => pair.large.ratePerSecond),
      ratio: middle((pair) => pair.large.ratePerSecond / pair.small.ratePerSecond),
      p99SmallMs: middle((pair) => pair.small.p99Ms),
      p99LargeMs: middle((pair) => pair.large.p99Ms),
      isQuiet: counted === quiet,
    };
  });
}

/** As a server does in the background, here to the end: it would take some of the database's time in every round. */
async function sealAll(databaseUrl: string, say: (line: string) => void): Promise<number> {
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
  say(`${rows.toLocaleString('en-US')} audit rows sealed in ${seconds.toFixed(0)} s`);
  return rows / seconds;
}

function reads(pathsOf: (side: Side) => readonly string[]): Contender['run'] {
  return (side, seconds) => {
    const paths = pathsOf(side);
    const [only] = paths;
    if (paths.length > 1 || only === undefined)
      return load(side, seconds, (connection) => readRequests(API_KEY, paths, connection));
    const request = readRequest(API_KEY, only);
    return load(side, seconds, () => () => request);
  };
}

function load({ url }: Side, seconds: number, requestsFor: (connection: number) => NextRequest) {
  return runLoad({ url, warmupMs: WARMUP_MS, measureMs: seconds * 1000, requestsFor });
}

/** The section of RESULTS.md that a run with `--scale` replaces; other runs leave it as it is. */
export const SCALE_HEADING = '## At a million payments';

export function renderScale(scale: Scale, date: string): string {
  const number = (figure: number) => Math.round(figure).toLocaleString('en-US');
  const lines = scale.measured.map(({ what, bar, small, large, ratio, p99SmallMs, p99LargeMs, isQuiet }) => {
    const met = bar === undefined ? '' : ratio >= bar ? 'yes' : '**missed**';
    const cells = [
      what + (isQuiet ? '' : ' *'),
      number(small),
      number(large),
      ratio.toFixed(2),
      bar ?? '',
      met,
    ];
    return `| ${[...cells, p99SmallMs.toFixed(1), p99LargeMs.toFixed(1)].join(' | ')} |`;
  });
  return `${SCALE_HEADING}

Measured on ${date} with \`npm run bench -- --scale\`: ${number(scale.payments)} payments in one organization,
${scale.gigabytes.toFixed(1)} GB, made in ${number(scale.buildSeconds)} s, against a database of ${number(SAMPLE)}. Figures a second; the ratio is the median of
those within a round; p99 in milliseconds. ${number(scale.sealedPerSecond)} audit rows a second were sealed in one go before; * = beside other work.

| what | ${number(SAMPLE)} payments | ${number(scale.payments)} | ratio | bar | met? | p99 | p99 |
|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`;
}

export function scaleMissed({ measured }: Scale): readonly string[] {
  return measured
    .filter(({ bar, ratio }) => bar !== undefined && ratio < bar)
    .map(({ what, ratio, bar }) => `${what} at a million payments: ${ratio.toFixed(2)}, the bar is ${bar}`);
}
