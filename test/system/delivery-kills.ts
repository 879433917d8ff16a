/** Servers that are killed and stopped while they deliver, and what must be true of the deliveries afterwards. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ServerProcess } from '../support/processes.ts';
import { type DatabaseKind, databaseKinds } from '../support/server.ts';
import { createPayment } from './client.ts';
import { auditDeliveries } from './delivery-audit.ts';
import {
  allSent,
  CLOCK,
  endpoint,
  expireLeases,
  type Home,
  openHome,
  post,
  ROUNDS,
} from './delivery-endpoints.ts';
import { type Answering, type Arrival, atOnce, chanceOf, type Inbox, openInbox } from './delivery-inbox.ts';
import { startTraffic } from './delivery-traffic.ts';
import { type Place, passed, placesIn, randomFrom, SEED } from './kills.ts';
import { type Claim, retry } from './load.ts';

const CLIENTS = 8;
const OPEN_MS_MAX = 2_000;
const KILL_AFTER_MS_MAX = 500;
/** A lease of 25 s that a killed process left behind, and some retries. */
const LEASES_END_MS_MAX = 60_000;
const AGAIN_EMBEDDED_MS_MAX = 3_000;
const AGAIN_MS_MAX = 30_000;
const STOP_MS_MAX = 5_000;
const MOVED_SECONDS = 7;

/** Most are answered at once, some after a while. */
const steady: Answering = (id) => ({ status: 204, afterMs: chanceOf(id) < 0.2 ? 250 : 0 });
/** A third fails once, and some of those twice. */
const moody: Answering = (id, nth) => {
  const chance = chanceOf(`moody ${id}`);
  return {
    status: nth <= (chance < 0.1 ? 2 : chance < 0.33 ? 1 : 0) ? 500 : 204,
    afterMs: chance > 0.9 ? 300 : 0,
  };
};

let inbox: Inbox;
let home: Home | undefined;
const endpoints = [
  endpoint('steady'),
  endpoint('moody', { eventTypes: ['payment.created', 'payment.captured'] }),
  endpoint('deaf', { eventTypes: ['customer.*'] }),
];

interface Kill {
  readonly cut: readonly Arrival[];
  readonly at: number;
  /** From when on it is counted how long it takes until what was cut off comes again. */
  readonly since: number;
}

/** When the last of those that were cut off came again. */
function cameAgain({ cut, at: killedAt, since }: Kill): number {
  const delays = cut.map((arrival) => {
    const again = inbox.of(arrival.endpoint).find(({ id, at }) => id === arrival.id && at > killedAt);
    return again ? again.at - since : Number.POSITIVE_INFINITY;
  });
  return Math.round(Math.max(0, ...delays));
}

/** The same on both databases, each in a file of its own, so that they run beside each other. */
export function testDeliveries(kind: DatabaseKind): void {
  beforeEach(async () => {
    inbox = await openInbox({ steady, moody, deaf: atOnce });
  });
  afterEach(async () => {
    await home?.remove();
    await inbox.close();
  });

  async function open(): Promise<Place & { readonly name: string; start(): Promise<ServerProcess> }> {
    const made = openHome(inbox, endpoints);
    home = made;
    const [name, openPlace] = placesIn(made.path)[databaseKinds.indexOf(kind)] ?? [];
    if (!name || !openPlace) throw new Error('there are two places');
    const place = await openPlace();
    return { ...place, name, start: () => made.start(place.options) };
  }

  it('survive kill -9: none is lost, none is sent that was not committed, and every one that came twice is explained', async () => {
    const random = randomFrom(SEED);
    const { name, options, inspect, start } = await open();
    const isAlone = options.dataDir !== undefined;
    const claims: Claim[] = [];
    const refused = new Set<string>();
    const kills: Kill[] = [];

    let server = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const traffic = startTraffic(server.url, `${round}`, CLIENTS);
      await traffic.load.acknowledged(1);
      if (round % 3 === 1) void move(server, round).catch(() => undefined);
      await passed(random() * KILL_AFTER_MS_MAX);
      // A kill while nothing is on its way says little; where nothing comes for a while it is done all the same.
      await vi
        .waitUntil(() => inbox.open().length > 0, { timeout: OPEN_MS_MAX, interval: 1 })
        .catch(() => undefined);
      const open = inbox.open();
      await server.kill();
      const killedAt = performance.now();
      await traffic.ended;
      await vi.waitUntil(() => inbox.open().length === 0, { interval: 5 });
      // The last kill shows how long it takes; for the others that time is made to pass.
      if (!isAlone && round < ROUNDS - 1) await inspect(expireLeases);
      expect(traffic.load.refused.map(({ status }) => status)).toEqual([]);
      for (const id of traffic.refused) refused.add(id);

      server = await start();
      const cut = open.filter(({ answered }) => answered === 'cut');
      kills.push({ cut, at: killedAt, since: isAlone ? performance.now() : killedAt });
      // What nobody knows the answer to is asked again under its key; none of it may make a second event.
      await retry(server.url, traffic.load.claims);
      claims.push(...traffic.load.claims);
    }
    for (let round = 1; round < ROUNDS; round += 3)
      await vi.waitUntil(async () => (await move(server, round)).status === 200, {
        timeout: LEASES_END_MS_MAX,
        interval: 200,
      });
    const waitedMs = await allSent(server.url, LEASES_END_MS_MAX);
    const again = kills.map(cameAgain);
    expect(await server.stop()).toBe(0);

    await inspect(async (query) => {
      const { complaints, ...found } = await auditDeliveries(query, {
        endpoints,
        arrivals: inbox.arrivals,
        acknowledged: claims.map(({ id }) => String(id)),
        refused,
        kills: ROUNDS,
      });
      console.log(
        `${name}: seed ${SEED}, ${ROUNDS} kills, ${claims.length} payments, ${refused.size} refused, ${JSON.stringify(found)}; ` +
          `cut off ${kills.map(({ cut }) => cut.length).join()}, again after ${again.join()} ms, all sent after ${waitedMs} ms`,
      );
      expect(complaints.slice(0, 10)).toEqual([]);
    });
    const cutOff = kills.reduce((sum, { cut }) => sum + cut.length, 0);
    expect(cutOff, 'kills that interrupt no delivery prove nothing').toBeGreaterThan(0);
    expect(Math.max(...again)).toBeLessThan(isAlone ? AGAIN_EMBEDDED_MS_MAX : AGAIN_MS_MAX);
  });

  it('that hang hold up a SIGTERM for a moment only, and are sent again by the next process at once', async () => {
    const { inspect, start } = await open();
    inbox.answer('steady', () => undefined);
    const first = await start();
    const { body } = await createPayment(first.url, 'hangs', 'hangs');
    await vi.waitUntil(() => inbox.of('steady').length === 1, { interval: 10 });
    const since = performance.now();
    expect(await first.stop()).toBe(0);
    expect(performance.now() - since).toBeLessThan(STOP_MS_MAX);
    await vi.waitUntil(() => inbox.of('steady')[0]?.answered === 'cut', { interval: 10 });

    inbox.answer('steady', atOnce);
    const second = await start();
    await vi.waitUntil(() => inbox.of('steady').length === 2, {
      timeout: AGAIN_EMBEDDED_MS_MAX,
      interval: 10,
    });
    await allSent(second.url, LEASES_END_MS_MAX);
    expect(await second.stop()).toBe(0);
    await inspect(async (query) => {
      const { arrivals } = inbox;
      const acknowledged = [String(body.id)];
      const found = await auditDeliveries(query, {
        endpoints,
        arrivals,
        acknowledged,
        refused: new Set(),
        kills: 1,
      });
      expect(found).toMatchObject({ complaints: [], events: 1, lost: 1 });
    });
  });
}

function move(server: ServerProcess, round: number) {
  return post(`${server.url + CLOCK}/advance`, { seconds: MOVED_SECONDS }, `move-${round}`);
}
