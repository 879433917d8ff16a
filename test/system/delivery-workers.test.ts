import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerProcess } from '../support/processes.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { allSent, done, endpoint, type Home, openHome, ROUNDS } from './delivery-endpoints.ts';
import { type Answering, atOnce, chanceOf, type Inbox, openInbox } from './delivery-inbox.ts';
import { startTraffic } from './delivery-traffic.ts';
import { passed, randomFrom, SEED } from './kills.ts';
import type { Claim } from './load.ts';
import { queryPostgres } from './records.ts';

const CLIENTS = 3;
const KILL_AFTER_MS_MAX = 400;
const LEASES_END_MS_MAX = 60_000;
const CUSTOMERS = '/_api/developer_api_customers';
const CUSTOMERS_EACH_ROUND = 1;
const NARROW = 4;
/** A connection that was used this recently is not closed because it idles. */
const RECENT_MS = 3_000;
const TURNS = 5;
/** Of two workers each does something: far less than half is enough. */
const SHARE_MIN = 0.05;

/** Several, because an endpoint is sent to by one worker at a time. */
const GOOD = ['good-0', 'good-1', 'good-2', 'good-3'];

const steady: Answering = (id) => ({ status: 204, afterMs: chanceOf(id) < 0.2 ? 150 : 0 });
const nobody: Answering = () => undefined;
const soon: Answering = (id) => ({ status: 204, afterMs: 2 + Math.round(chanceOf(id) * 6) });

let inbox: Inbox | undefined;
let home: Home | undefined;

afterEach(async () => {
  await home?.remove();
  await inbox?.close();
});

describe('two workers and an API node on one PostgreSQL', () => {
  it('send everything although one of them is killed again and again, and none of the endpoints starves', async () => {
    const random = randomFrom(SEED);
    const endpoints = [
      ...GOOD.map((name) => endpoint(name)),
      endpoint('failing', { eventTypes: ['payment.created'], retryProfile: 'none' }),
      endpoint('hanging', { eventTypes: ['customer.created'] }),
      endpoint('narrow', { eventTypes: ['payment.created'], maxConcurrency: NARROW }),
    ];
    const box = await openInbox({
      ...Object.fromEntries(GOOD.map((name) => [name, steady])),
      failing: () => ({ status: 503, afterMs: 0 }),
      hanging: nobody,
      narrow: soon,
    });
    inbox = box;
    const nodes = openHome(box, endpoints);
    home = nodes;
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const api = await nodes.start({ databaseUrl }, '--role', 'api');
    const startWorker = () => nodes.start({ databaseUrl }, '--role', 'worker');
    const workers = [await startWorker(), await startWorker()];
    const claims: Claim[] = [];
    const refused = new Set<string>();
    const works = [new Work(box), new Work(box)];
    let customers = 0;

    for (let round = 0; round < ROUNDS; round += 1) {
      const traffic = startTraffic(api.url, `${round}`, CLIENTS);
      await traffic.load.acknowledged(1);
      for (; customers < (round + 1) * CUSTOMERS_EACH_ROUND; customers += 1)
        await done(api.url + CUSTOMERS, { name: `Ada ${customers}` }, randomUUID());
      await passed(random() * KILL_AFTER_MS_MAX);
      const victim = round % 2;
      await works[victim]?.end(() => workers[victim]?.kill());
      traffic.stop();
      await traffic.ended;
      expect([traffic.load.lost(), traffic.load.refused]).toEqual([0, []]);
      claims.push(...traffic.load.claims);
      for (const id of traffic.refused) refused.add(id);
      workers[victim] = await startWorker();
    }
    // While one endpoint hangs and one fails, the first attempts of all were made.
    const firsts = (name: string) => new Set(box.of(name).map(({ id }) => id)).size;
    const created = { failing: claims.length, hanging: customers, narrow: claims.length };
    await vi.waitUntil(() => Object.entries(created).every(([name, count]) => firsts(name) === count), {
      timeout: LEASES_END_MS_MAX,
      interval: 50,
    });
    box.answer('hanging', atOnce);
    const waitedMs = await allSent(api.url, LEASES_END_MS_MAX);
    await stopAll([api, ...workers.filter((worker) => worker !== undefined)]);

    const work = works.map((one) => one.sent());
    const peaks = endpoints.map(
      ({ name, maxConcurrency }) => `${name} ${box.peak(name)} of ${maxConcurrency}`,
    );
    const { complaints, ...found } = await queryPostgres(databaseUrl, (query) =>
      auditDeliveries(query, {
        endpoints,
        arrivals: box.arrivals,
        acknowledged: claims.map(({ id }) => String(id)),
        refused,
        kills: ROUNDS,
        mayFail: ['failing'],
      }),
    );
    console.log(
      `seed ${SEED}, ${ROUNDS} kills, ${claims.length} payments, ${JSON.stringify(found)}, sent by the killed ${work.join(' and ')}, ` +
        `most at once: ${peaks.join(', ')}; all sent after ${waitedMs} ms`,
    );
    expect(complaints.slice(0, 10)).toEqual([]);
    for (const { name, maxConcurrency } of endpoints)
      expect(box.peak(name), name).toBeLessThanOrEqual(maxConcurrency);
  });

  it('both send, and never have more open at an endpoint than it allows', async () => {
    const limit = 2;
    const names = Array.from({ length: 30 }, (_, i) => `narrow-${i}`);
    const endpoints = names.map((name) => endpoint(name, { maxConcurrency: limit }));
    const box = await openInbox(Object.fromEntries(names.map((name) => [name, soon])));
    inbox = box;
    const nodes = openHome(box, endpoints);
    home = nodes;
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const api = await nodes.start({ databaseUrl }, '--role', 'api');
    const workers = [0, 1].map(() => nodes.start({ databaseUrl }, '--role', 'worker'));
    const started = await Promise.all(workers);
    const traffic = startTraffic(api.url, 'narrow', 2);
    await traffic.load.acknowledged(60);
    traffic.stop();
    await traffic.ended;
    const waitedMs = await allSent(api.url, LEASES_END_MS_MAX);
    // One after the other, so that it is known whose connections are closed.
    const works = started.map(() => new Work(box));
    for (const [i, worker] of started.entries()) await works[i]?.end(() => worker.stop());
    await stopAll([api]);
    const work = works.map((one) => one.sent());
    const peaks = names.map((name) => box.peak(name));
    console.log(
      `${box.arrivals.length} sent, of which ${work.join(' and ')} by either, most at once ${peaks.join()}; all sent after ${waitedMs} ms`,
    );
    expect(Math.max(...peaks)).toBe(limit);
    const found = await queryPostgres(databaseUrl, (query) =>
      auditDeliveries(query, {
        endpoints,
        arrivals: box.arrivals,
        acknowledged: traffic.load.claims.map(({ id }) => String(id)),
        refused: traffic.refused,
        kills: 0,
      }),
    );
    // Where nobody dies nothing comes twice.
    expect(found).toMatchObject({ complaints: [], extra: 0, lost: 0 });
    const share = box.arrivals.length * SHARE_MIN;
    for (const sent of work) expect(sent, 'each sends a share while both live').toBeGreaterThan(share);
  });
});

/** What a worker has sent, known by its connections: those that were in use and were closed by its end. */
class Work {
  readonly #inbox: Inbox;
  readonly #ends: { readonly recent: ReadonlySet<Socket>; readonly at: number }[] = [];

  constructor(box: Inbox) {
    this.#inbox = box;
  }

  async end(how: () => Promise<unknown> | undefined): Promise<void> {
    const since = performance.now() - RECENT_MS;
    const recent = this.#inbox.arrivals.filter(({ at }) => at > since).map(({ socket }) => socket);
    const open = recent.filter((socket) => this.#inbox.closedAt(socket) === undefined);
    await how();
    // What the end has closed is seen in the next turns of the loop; what closes later belongs to somebody else.
    for (let n = 0; n < TURNS; n += 1) await turn();
    this.#ends.push({ recent: new Set(open), at: performance.now() });
  }

  sent(): number {
    const closed = (socket: Socket) => this.#inbox.closedAt(socket) ?? Number.POSITIVE_INFINITY;
    const own = new Set(
      this.#ends.flatMap(({ recent, at }) => [...recent].filter((socket) => closed(socket) < at)),
    );
    return this.#inbox.arrivals.filter(({ socket }) => own.has(socket)).length;
  }
}

async function stopAll(nodes: readonly ServerProcess[]): Promise<void> {
  const codes = await Promise.all(nodes.map((node) => node.stop()));
  codes.forEach((code, i) => {
    expect(code, nodes[i]?.logs()).toBe(0);
  });
}
