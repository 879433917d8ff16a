import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { effort } from '../../support/effort.ts';
import { runToEnd, type ServerProcess, startServer } from '../../support/processes.ts';
import { randomFrom, testSeed } from '../../support/seed.ts';
import { newKey } from '../../support/tenant.ts';
import { temporaryFolder } from '../support/client.ts';
import { databasesIn, sleep, type TestDatabase } from '../support/databases.ts';
import { auditDeliveries } from '../support/delivery-audit.ts';
import {
  acceptImmediately,
  chanceOf,
  type Inbox,
  openInbox,
  type ResponsePolicy,
} from '../support/webhook-receiver.ts';
import { endpoint } from '../support/webhook-servers.ts';
import { auditChaosRun, type ChaosAudit } from './audit.ts';
import { auditReportsRead, type ReportsRead, readReports } from './reports.ts';
import {
  ClientState,
  clockRequests,
  drawRequest,
  hasTransfers,
  paymentRequests,
  Random,
  type RequestKind,
  transferRequests,
} from './requests.ts';
import { type App, type ClientRequest, Fleet, readJson, sendUntilFinal, type Transport } from './servers.ts';
import { overdueTimers } from './timers.ts';

/** Requests on each database. The same seed repeats the same choices, but not the same order of arrival. */
const STEPS_DEFAULT = effort(300, 1_600);
const STEPS = Number(process.env.SANDBANK_CHAOS_STEPS ?? STEPS_DEFAULT);
const REPLAYS = effort(75, 150);
const CUTS_EVERY = 400;
const CLIENTS = 8;
const KILL_AFTER_MS_MAX = 80;
/** On PostgreSQL a kill during an advance makes the other node wait for the lease of the killed one, ten seconds. */
const KILLS: Readonly<Record<string, readonly ('any' | 'advance')[]>> = {
  'the embedded database': ['advance', 'any', 'advance'],
  PostgreSQL: ['any', 'advance', 'any'],
};
const DAY_SECONDS = 86_400;
const FAR_AHEAD_MS = 60 * DAY_SECONDS * 1_000;
const FINAL_CALLS_MAX = 20;
const FINDINGS_SHOWN = 20;
/** For hangs only: waits for leases of killed nodes and for pending deliveries. */
const SENT_MS_MAX = 600_000;

const scopes = [
  'payments:read',
  'payments:write',
  'transfers:read',
  'transfers:write',
  'webhooks:read',
  'webhooks:write',
];
const app = (organization: string, name: string): App => ({ organization, name, key: newKey() });
const acme = [app('Acme', 'web'), app('Acme', 'shop')] as const;
const other = app('Other', 'web');
const apps: readonly App[] = [...acme, other];

/** A quarter of the events fails twice, a quarter is accepted late, and the others are accepted immediately. */
const flaky: ResponsePolicy = (id, nth) => {
  const chance = chanceOf(id);
  if (chance < 0.25) return { status: nth <= 2 ? 503 : 204, afterMs: 0 };
  return { status: 204, afterMs: chance < 0.5 ? 200 : 0 };
};
/** Half of the events always fail. */
const failing: ResponsePolicy = (id) => ({ status: chanceOf(id) < 0.5 ? 500 : 204, afterMs: 0 });

const eventTypes = ['payment.*', 'refund.*', 'dispute.*', 'transfer.*'];

/** Each application has an endpoint, which gets only the events of that application. */
const receivers = [
  { app: acme[0], policy: acceptImmediately, ...endpoint('stable', { application: 'Acme web', eventTypes }) },
  {
    ...{ app: acme[1], policy: flaky },
    ...endpoint('flaky', { application: 'Acme shop', eventTypes, retryProfile: 'standard' }),
  },
  {
    ...{ app: other, policy: failing },
    ...endpoint('failing', { application: 'Other web', eventTypes, retryProfile: 'none' }),
  },
];

const folder = temporaryFolder();
const seedFile = path.join(folder.path, 'seed.json');
let fleet: Fleet | undefined;
let inbox: Inbox | undefined;

afterAll(async () => {
  await fleet?.abandon();
  await inbox?.close();
  folder.remove();
});

function writeSeed(box: Inbox): void {
  const organizations = [...new Set(apps.map(({ organization }) => organization))].map((name) => ({
    name,
    applications: receivers
      .filter(({ app: { organization } }) => organization === name)
      .map(({ app: one, name: path, secret, eventTypes, retryProfile, maxConcurrency }) => ({
        name: one.name,
        apiKeys: [{ name: 'key', key: one.key, scopes }],
        webhooks: [{ url: box.urlOf(path), secret, eventTypes, retryProfile, maxConcurrency }],
      })),
  }));
  writeFileSync(seedFile, JSON.stringify({ organizations }));
}

describe.each(databasesIn(folder.path))('random requests, kills and clock jumps on %s', (name, open) => {
  test('leave the ledger, reports, timers and deliveries correct', {
    timeout: 1_800_000,
  }, async () => {
    const startedAt = performance.now();
    const database = await open();
    const isAlone = database.options.dataDir !== undefined;
    const box = await openInbox(Object.fromEntries(receivers.map(({ name, policy }) => [name, policy])));
    inbox = box;
    writeSeed(box);
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on' };
    fleet = new Fleet(isAlone ? 1 : 2, () => startServer({ ...database.options, seed: seedFile, env }));
    await fleet.open();
    const state = new ClientState(apps);
    const random = new Random(randomFrom(testSeed));
    // A longer run has proportionally more kills.
    const plan = Array.from({ length: Math.ceil(STEPS / STEPS_DEFAULT) }, () => KILLS[name] ?? []).flat();
    const killer = new Killer(fleet, plan, random);
    const cutter = new ConnectionCutter(database);
    const transport: Transport = {
      fleet,
      chance: random.next,
      onSend: (request, node) => {
        killer.onSend(request, node);
        cutter.onSend();
      },
    };
    const { url } = await fleet.node(0);
    const kinds = [
      ...paymentRequests,
      ...clockRequests(acme),
      ...((await hasTransfers(url)) ? transferRequests : []),
    ];
    await sendRequests(state, kinds, random, transport);
    await killer.done;
    await cutter.done;
    await expectReplayed(state, random, transport);
    const commands = state.completed.length;

    // First audit: with pending timers. The clock of one organization was never moved.
    const node = await fleet.node(0);
    const clock = await readJson(node.url, other, 'clock');
    expect({ status: clock.status, offsetSeconds: clock.offsetSeconds }).toEqual({
      status: 'running',
      offsetSeconds: 0,
    });
    await fleet.close();
    const first = await auditAt(database, state);
    expect(first.findings.slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    expect(first.rows.timers.length, 'there are pending timers').toBeGreaterThan(0);

    // Second audit: all clocks are advanced past every timer.
    await fleet.open();
    await advanceAll(state, first.latestTime + FAR_AHEAD_MS, transport);
    // Deliveries that failed at the end of that advance are retried within a day, also by a frozen clock.
    const nows = await advanceAll(state, first.latestTime + FAR_AHEAD_MS + DAY_SECONDS * 1_000, transport);
    const { url: last } = await fleet.node(0);
    const reported = new Map<string, ReportsRead>();
    for (const one of [acme[0], other]) {
      reported.set(one.organization, await readReports(last, one));
      for (const { amount } of (await readJson(last, one, 'balances')).trialBalance) expect(amount).toBe(0);
    }
    await vi.waitUntil(() => allSent(last, state, nows, transport), { timeout: SENT_MS_MAX, interval: 200 });
    await fleet.close();
    const ended = await auditAt(database, state);
    const late = overdueTimers(ended.rows, nows);
    expect([...ended.findings, ...late].slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    for (const [organization, said] of reported) {
      const org = ended.rows.apps.find((row) => row.organization === organization)?.org ?? '';
      expect(auditReportsRead(said, org, ended.expected), `seed ${testSeed}`).toEqual([]);
    }
    await expectConsistent(database);
    const sent = await expectDelivered(database, state, box, fleet.kills);
    await box.close();

    const advances = state.completed.filter(({ path: requestPath }) => requestPath === 'clock/advance');
    console.log(
      `${name}: seed ${testSeed}, ${commands} commands (${state.completed.filter(({ status }) => status < 300).length} accepted), ` +
        `${fleet.kills} kills, ${cutter.cuts} cuts of the database, ${state.completed.filter(({ attempts }) => attempts > 1).length} commands and ` +
        `${advances.filter(({ attempts }) => attempts > 1).length} of ${advances.length} advances sent again, ` +
        `${ended.timersFired} moves by the clocks, ${ended.expected.lines.length} report lines, ${sent}, ` +
        `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`,
    );
    expect(fleet.kills).toBeGreaterThanOrEqual(3);
  });
});

/** Runs while no server is running. */
async function auditAt(database: TestDatabase, state: ClientState): Promise<ChaosAudit> {
  let audited: ChaosAudit | undefined;
  await database.inspect(async (query) => {
    audited = await auditChaosRun(query, state.completed, apps);
  });
  if (!audited) throw new Error('the audit did not run');
  return audited;
}

/** Each client sends one request after another until all steps are done. */
async function sendRequests(
  state: ClientState,
  kinds: readonly RequestKind[],
  random: Random,
  transport: Transport,
): Promise<void> {
  let steps = 0;
  const client = async (): Promise<void> => {
    while (steps < STEPS) {
      steps += 1;
      const key = `step-${steps}`;
      state.record(await sendUntilFinal(drawRequest(kinds, state, random), key, transport));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Advances every clock to a time, in as many calls as it takes. Returns their times by organization and application name. */
async function advanceAll(
  state: ClientState,
  to: number,
  transport: Transport,
): Promise<Map<string, number>> {
  const nows = new Map<string, number>();
  for (const one of apps) {
    const request: ClientRequest = {
      app: one,
      path: 'clock/advance',
      body: { to: new Date(to).toISOString() },
    };
    for (let call = 1; ; call += 1) {
      if (call > FINAL_CALLS_MAX) throw new Error(`The clock of ${one.name} does not reach the end.`);
      const result = await sendUntilFinal(
        request,
        `end-${to}-${one.organization}-${one.name}-${call}`,
        transport,
      );
      state.record(result);
      expect(result.status, result.text).toBe(200);
      nows.set(`${one.organization} ${one.name}`, Date.parse(result.response.now));
      if (result.response.complete) break;
    }
  }
  return nows;
}

async function expectConsistent({ options }: TestDatabase): Promise<void> {
  const { code, stdout, stderr } = await runToEnd({ ...options, args: ['verify', '--json'] });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ object: 'verification', status: 'sound' });
}

/**
 * Two failures with sixty days between them count as days of failures only, which disables the endpoint. Enables it again to send its
 * pending deliveries.
 */
async function allSent(
  url: string,
  state: ClientState,
  nows: Map<string, number>,
  transport: Transport,
): Promise<boolean> {
  let isDone = true;
  for (const one of apps) {
    const { data } = await readJson(url, one, 'webhook_deliveries?status=pending&limit=1');
    if (data.length === 0) continue;
    isDone = false;
    for (const { id, status } of (await readJson(url, one, 'webhooks')).data) {
      if (status !== 'disabled') continue;
      const enable = { app: one, path: `webhooks/${id}/enable`, body: {} };
      state.record(await sendUntilFinal(enable, `enable-${Date.now()}`, transport));
      // Failed attempts are retried by the application clock, which may be frozen.
      const advance = { app: one, path: 'clock/advance', body: { seconds: 3_600 } };
      const result = await sendUntilFinal(advance, `after-enable-${Date.now()}`, transport);
      state.record(result);
      nows.set(`${one.organization} ${one.name}`, Date.parse(result.response.now));
    }
  }
  return isDone;
}

/** Every event arrived at the endpoint of its application, signed and unchanged, and every duplicate has a reason. */
async function expectDelivered(
  database: TestDatabase,
  state: ClientState,
  box: Inbox,
  kills: number,
): Promise<string> {
  const payments = state.completed.filter(
    ({ path: requestPath, status }) => requestPath === 'payments' && status === 201,
  );
  const refused = state.completed.filter(({ status }) => status >= 400);
  let summary = '';
  await database.inspect(async (query) => {
    const { complaints, ...found } = await auditDeliveries(query, {
      endpoints: receivers,
      arrivals: box.arrivals,
      acknowledged: payments.map(({ response }) => response.id),
      refused: new Set(refused.map(({ response }) => response.requestId)),
      kills,
      mayFail: ['failing'],
    });
    expect(complaints.slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    summary = `${found.events} events that came ${found.arrivals} times`;
  });
  return summary;
}

/** Any node replays the response of a completed request byte by byte. */
async function expectReplayed(state: ClientState, random: Random, transport: Transport): Promise<void> {
  const done = state.completed.filter(({ status }) => status < 300);
  for (let i = 0; i < Math.min(REPLAYS, done.length); i += 1) {
    const { app: client, path: requestPath, body, key, status, text } = random.pick(done);
    const again = await sendUntilFinal({ app: client, path: requestPath, body }, key, transport);
    expect({ key, status: again.status, text: again.text }, `seed ${testSeed}`).toEqual({
      key,
      status,
      text,
    });
  }
}

/** Terminates all database connections now and then, as a failover does: transactions are rolled back, or their outcome is unknown. */
class ConnectionCutter {
  readonly #database: TestDatabase;
  #sends = 0;
  cuts = 0;
  done: Promise<void> = Promise.resolve();

  constructor(database: TestDatabase) {
    this.#database = database;
  }

  readonly onSend = (): void => {
    this.#sends += 1;
    if (this.#database.options.databaseUrl === undefined || this.#sends % CUTS_EVERY !== CUTS_EVERY / 2)
      return;
    this.cuts += 1;
    const cut = this.#database.inspect(async (query) => {
      await query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'sandbank%'`);
    });
    this.done = Promise.all([this.done, cut]).then(() => undefined);
  };
}

/** Kills nodes according to the plan, spread over the run: the node of any request, or one that has just received an advance. */
class Killer {
  readonly #fleet: Fleet;
  readonly #plan: readonly ('any' | 'advance')[];
  readonly #dice: Random;
  #sends = 0;
  #next = 0;
  #isBusy = false;
  /** Resolves when every killed node is up again. */
  done: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, plan: readonly ('any' | 'advance')[], random: Random) {
    this.#fleet = fleet;
    this.#plan = plan;
    this.#dice = random;
  }

  readonly onSend = ({ path: requestPath, body }: ClientRequest, node: ServerProcess): void => {
    this.#sends += 1;
    const victim = this.#plan[this.#next];
    const share = STEPS / this.#plan.length;
    const isTime = this.#sends >= (this.#next + 0.5) * share;
    // If no advance arrives in time, the next request triggers the kill.
    const isLast = this.#sends >= (this.#next + 0.9) * share;
    const isLongAdvance = requestPath === 'clock/advance' && Number(body.seconds ?? 0) >= DAY_SECONDS;
    if (
      this.#isBusy ||
      victim === undefined ||
      !isTime ||
      (victim === 'advance' && !isLongAdvance && !isLast)
    )
      return;
    this.#isBusy = true;
    this.#next += 1;
    const killed = sleep(this.#dice.next() * KILL_AFTER_MS_MAX).then(() => this.#fleet.kill(node));
    this.done = killed.finally(() => {
      this.#isBusy = false;
    });
  };
}
