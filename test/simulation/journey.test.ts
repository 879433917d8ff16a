import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../process/support/client.ts';
import { type Place, passed, placesIn } from '../process/support/databases.ts';
import { auditDeliveries } from '../process/support/delivery-audit.ts';
import {
  type Answering,
  atOnce,
  chanceOf,
  type Inbox,
  openInbox,
} from '../process/support/webhook-receiver.ts';
import { endpoint } from '../process/support/webhook-servers.ts';
import { effort, isThorough } from '../support/effort.ts';
import { runToEnd, type ServerProcess, startServer } from '../support/processes.ts';
import { randomFrom, testSeed } from '../support/seed.ts';
import { newKey } from '../support/tenant.ts';
import { type Audited, auditJourney, overdue } from './journey-auditor.ts';
import { type App, type Asked, look, type Sending, tell } from './journey-client.ts';
import { choose, clockEntries, type Entry, paymentEntries } from './journey-commands.ts';
import { Fleet } from './journey-fleet.ts';
import { auditReported, type Reported, readReports } from './journey-reports.ts';
import { hasTransfers, transferEntries } from './journey-transfers.ts';
import { Dice, World } from './journey-world.ts';

/** Printed with every run; the same seed gives the same choices again, though not the same order of arrival. */
const STEPS_DEFAULT = effort(800, 1_600);
const STEPS = Number(process.env.SANDBANK_JOURNEY_STEPS ?? STEPS_DEFAULT);
/** `npm run test:soak -- --minutes N` goes on for so long, with kills all the way. */
const MINUTES = Number(process.env.SANDBANK_SOAK_MINUTES ?? 0);
const REPLAYS = 150;
const CUTS_EVERY = 400;
const CLIENTS = 8;
const KILL_AFTER_MS_MAX = 80;
/** A kill in the middle of an advance costs the others the lease of the dead node, ten seconds, on PostgreSQL. */
const KILLS: Readonly<Record<string, readonly ('any' | 'advance')[]>> = {
  'the embedded database': ['advance', 'any', 'advance'],
  PostgreSQL: ['any', 'advance', 'any'],
};
const DAY_SECONDS = 86_400;
const FAR_AHEAD_MS = 60 * DAY_SECONDS * 1_000;
const FINAL_CALLS_MAX = 20;
const FINDINGS_SHOWN = 20;
/** For hangs only: the lease of a node that was killed, and what is left to send. */
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

/** Of four events one fails twice before it is taken, one is taken late, and two are taken at once. */
const moody: Answering = (id, nth) => {
  const chance = chanceOf(id);
  if (chance < 0.25) return { status: nth <= 2 ? 503 : 204, afterMs: 0 };
  return { status: 204, afterMs: chance < 0.5 ? 200 : 0 };
};
/** Half of the events are refused for good; one more attempt would not help them. */
const stubborn: Answering = (id) => ({ status: chanceOf(id) < 0.5 ? 500 : 204, afterMs: 0 });

const eventTypes = ['payment.*', 'refund.*', 'dispute.*', 'transfer.*'];

/** Each application has a receiver, which gets the events of that application alone. */
const receivers = [
  { app: acme[0], answering: atOnce, ...endpoint('steady', { application: 'Acme web', eventTypes }) },
  {
    ...{ app: acme[1], answering: moody },
    ...endpoint('moody', { application: 'Acme shop', eventTypes, retryProfile: 'standard' }),
  },
  {
    ...{ app: other, answering: stubborn },
    ...endpoint('stubborn', { application: 'Other web', eventTypes, retryProfile: 'none' }),
  },
];

const folder = temporaryFolder();
const seedFile = path.join(folder.path, 'journey.json');
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

/** On one database in an ordinary run: the crash tests kill the embedded one. */
const places = placesIn(folder.path).filter(([name]) => isThorough || MINUTES > 0 || name === 'PostgreSQL');

describe.each(places)('a journey through time on %s', (name, open) => {
  test('keeps its books, its reports and every timer, whatever is killed on the way', {
    timeout: 1_800_000 + MINUTES * 180_000,
  }, async () => {
    const startedAt = performance.now();
    const place = await open();
    const isAlone = place.options.dataDir !== undefined;
    const box = await openInbox(
      Object.fromEntries(receivers.map(({ name, answering }) => [name, answering])),
    );
    inbox = box;
    writeSeed(box);
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on' };
    fleet = new Fleet(isAlone ? 1 : 2, () => startServer({ ...place.options, seed: seedFile, env }));
    await fleet.open();
    const world = new World(apps);
    const dice = new Dice(randomFrom(testSeed));
    // A longer journey has as many more kills.
    const plan = Array.from({ length: Math.ceil(STEPS / STEPS_DEFAULT) }, () => KILLS[name] ?? []).flat();
    const killer = new Killer(fleet, plan, dice);
    const cutter = new Cutter(place);
    const sending: Sending = {
      fleet,
      chance: dice.chance,
      onSend: (asked, node) => {
        killer.onSend(asked, node);
        cutter.onSend();
      },
    };
    const { url } = await fleet.node(0);
    const entries = [
      ...paymentEntries,
      ...clockEntries(acme),
      ...((await hasTransfers(url)) ? transferEntries : []),
    ];
    await travel(world, entries, dice, sending);
    await killer.done;
    await cutter.done;
    await expectReplayed(world, dice, sending);
    const commands = world.told.length;

    // Halfway: everything as it was left, with timers that wait, and one organization in real time.
    const node = await fleet.node(0);
    const clock = await look(node.url, other, 'clock');
    expect({ status: clock.status, offsetSeconds: clock.offsetSeconds }).toEqual({
      status: 'running',
      offsetSeconds: 0,
    });
    await fleet.close();
    const halfway = await auditAt(place, world);
    expect(halfway.findings.slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    expect(halfway.rows.timers.length, 'a journey after which nothing waits proves little').toBeGreaterThan(
      0,
    );

    // Then so far ahead that all that is due must have happened.
    await fleet.open();
    await goFarAhead(world, halfway.latest + FAR_AHEAD_MS, sending);
    // What was sent on the last steps of that way, and refused, is sent again within a day, also where the clock stands.
    const nows = await goFarAhead(world, halfway.latest + FAR_AHEAD_MS + DAY_SECONDS * 1_000, sending);
    const { url: last } = await fleet.node(0);
    const reported = new Map<string, Reported>();
    for (const one of [acme[0], other]) {
      reported.set(one.organization, await readReports(last, one));
      for (const { amount } of (await look(last, one, 'balances')).trialBalance) expect(amount).toBe(0);
    }
    await vi.waitUntil(() => allSent(last, sending), { timeout: SENT_MS_MAX, interval: 200 });
    await fleet.close();
    const ended = await auditAt(place, world);
    const late = overdue(ended.rows, nows);
    expect([...ended.findings, ...late].slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    for (const [organization, said] of reported) {
      const org = ended.rows.apps.find((row) => row.organization === organization)?.org ?? '';
      expect(auditReported(said, org, ended.expected), `seed ${testSeed}`).toEqual([]);
    }
    await expectSound(place);
    const sent = await expectDelivered(place, world, box, fleet.kills);
    await box.close();

    const advances = world.told.filter(({ path: asked }) => asked === 'clock/advance');
    console.log(
      `${name}: seed ${testSeed}, ${commands} commands (${world.told.filter(({ status }) => status < 300).length} accepted), ` +
        `${fleet.kills} kills, ${cutter.cuts} cuts of the database, ${world.told.filter(({ attempts }) => attempts > 1).length} commands and ` +
        `${advances.filter(({ attempts }) => attempts > 1).length} of ${advances.length} advances sent again, ` +
        `${ended.fired} moves by the clocks, ${ended.expected.lines.length} report lines, ${sent}, ` +
        `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`,
    );
    expect(fleet.kills).toBeGreaterThanOrEqual(3);
  });
});

/** When all servers have stopped. */
async function auditAt(place: Place, world: World): Promise<Audited> {
  let audited: Audited | undefined;
  await place.inspect(async (query) => {
    audited = await auditJourney(query, world.told, apps);
  });
  if (!audited) throw new Error('nothing was looked at');
  return audited;
}

/** Each client sends one command after the other until all steps are taken. */
async function travel(world: World, entries: readonly Entry[], dice: Dice, sending: Sending): Promise<void> {
  let steps = 0;
  const until = performance.now() + MINUTES * 60_000;
  const client = async (): Promise<void> => {
    while (steps < STEPS || performance.now() < until) {
      steps += 1;
      const key = `journey-${steps}`;
      world.remember(await tell(choose(entries, world, dice), key, sending));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Moves every clock until nothing more happens; gives where they are, by organization and name. */
async function goFarAhead(world: World, to: number, sending: Sending): Promise<ReadonlyMap<string, number>> {
  const nows = new Map<string, number>();
  for (const one of apps) {
    const asked: Asked = { app: one, path: 'clock/advance', body: { to: new Date(to).toISOString() } };
    for (let call = 1; ; call += 1) {
      if (call > FINAL_CALLS_MAX) throw new Error(`The clock of ${one.name} does not come to its end.`);
      const told = await tell(asked, `end-${to}-${one.organization}-${one.name}-${call}`, sending);
      world.remember(told);
      expect(told.status, told.text).toBe(200);
      nows.set(`${one.organization} ${one.name}`, Date.parse(told.answer.now));
      if (told.answer.complete) break;
    }
  }
  return nows;
}

async function expectSound({ options }: Place): Promise<void> {
  const { code, stdout, stderr } = await runToEnd({ ...options, args: ['verify', '--json'] });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ object: 'verification', status: 'sound' });
}

/**
 * Two failures with sixty days between them and nothing else are days of nothing but failure: the endpoint is disabled, and what
 * waits for it goes when somebody enables it.
 */
async function allSent(url: string, sending: Sending): Promise<boolean> {
  let isDone = true;
  for (const one of apps) {
    const { data } = await look(url, one, 'webhook_deliveries?status=pending&limit=1');
    if (data.length === 0) continue;
    isDone = false;
    for (const { id, status } of (await look(url, one, 'webhooks')).data) {
      if (status !== 'disabled') continue;
      await tell({ app: one, path: `webhooks/${id}/enable`, body: {} }, `enable-${Date.now()}`, sending);
      // Attempts that fail now wait by the clock of the application, which may be frozen.
      const body = { seconds: 3_600 };
      await tell({ app: one, path: 'clock/advance', body }, `after-enable-${Date.now()}`, sending);
    }
  }
  return isDone;
}

/** Every event came to the receiver of its application, signed and word for word; and what came twice is explained. */
async function expectDelivered(place: Place, world: World, box: Inbox, kills: number): Promise<string> {
  const payments = world.told.filter(({ path: asked, status }) => asked === 'payments' && status === 201);
  const refused = world.told.filter(({ status }) => status >= 400);
  let words = '';
  await place.inspect(async (query) => {
    const { complaints, ...found } = await auditDeliveries(query, {
      endpoints: receivers,
      arrivals: box.arrivals,
      acknowledged: payments.map(({ answer }) => answer.id),
      refused: new Set(refused.map(({ answer }) => answer.requestId)),
      kills,
      mayFail: ['stubborn'],
    });
    expect(complaints.slice(0, FINDINGS_SHOWN), `seed ${testSeed}`).toEqual([]);
    words = `${found.events} events that came ${found.arrivals} times`;
  });
  return words;
}

/** What was done is answered again word for word, by whichever node is asked, and nothing more happens. */
async function expectReplayed(world: World, dice: Dice, sending: Sending): Promise<void> {
  const done = world.told.filter(({ status }) => status < 300);
  for (let i = 0; i < Math.min(REPLAYS, done.length); i += 1) {
    const { app: asker, path: asked, body, key, status, text } = dice.one(done);
    const again = await tell({ app: asker, path: asked, body }, key, sending);
    expect({ key, status: again.status, text: again.text }, `seed ${testSeed}`).toEqual({
      key,
      status,
      text,
    });
  }
}

/** Cuts every connection to the database now and then, as a failover would: whatever is under way is rolled back, or its outcome is not known. */
class Cutter {
  readonly #place: Place;
  #sends = 0;
  cuts = 0;
  done: Promise<void> = Promise.resolve();

  constructor(place: Place) {
    this.#place = place;
  }

  readonly onSend = (): void => {
    this.#sends += 1;
    if (this.#place.options.databaseUrl === undefined || this.#sends % CUTS_EVERY !== CUTS_EVERY / 2) return;
    this.cuts += 1;
    const cut = this.#place.inspect(async (query) => {
      await query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'sandbank%'`);
    });
    this.done = Promise.all([this.done, cut]).then(() => undefined);
  };
}

/** Kills as the plan says, spread over the journey: whoever gets a command, or the one that has just been told to advance. */
class Killer {
  readonly #fleet: Fleet;
  readonly #plan: readonly ('any' | 'advance')[];
  readonly #dice: Dice;
  #sends = 0;
  #next = 0;
  #isBusy = false;
  /** Resolves when every kill that was begun is over. */
  done: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, plan: readonly ('any' | 'advance')[], dice: Dice) {
    this.#fleet = fleet;
    this.#plan = plan;
    this.#dice = dice;
  }

  readonly onSend = ({ path: asked, body }: Asked, node: ServerProcess): void => {
    this.#sends += 1;
    // A soak goes on killing at the same pace.
    const victim = this.#plan[MINUTES > 0 ? this.#next % this.#plan.length : this.#next];
    const share = STEPS / this.#plan.length;
    const isTime = this.#sends >= (this.#next + 0.5) * share;
    // When no advance comes along in time, the next command will do.
    const isLast = this.#sends >= (this.#next + 0.9) * share;
    const isLongWay = asked === 'clock/advance' && Number(body.seconds ?? 0) >= DAY_SECONDS;
    if (this.#isBusy || victim === undefined || !isTime || (victim === 'advance' && !isLongWay && !isLast))
      return;
    this.#isBusy = true;
    this.#next += 1;
    const killed = passed(this.#dice.chance() * KILL_AFTER_MS_MAX).then(() => this.#fleet.kill(node));
    this.done = killed.finally(() => {
      this.#isBusy = false;
    });
  };
}
