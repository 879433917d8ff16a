import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import type { ServerProcess } from '../support/processes.ts';
import { type Answer, call, createPayment, PAYMENTS } from './support/client.ts';
import { expectCompleteRows, queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import {
  type Claim,
  expectListed,
  expectOnlyUnavailable,
  type Load,
  newClaims,
  retry,
  startLoad,
} from './support/load.ts';
import { chanceOf, type Inbox, openInbox, type ResponsePolicy } from './support/webhook-receiver.ts';
import { allSent, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

/**
 * The server gives up on a silent PostgreSQL after this time, and requests behind a batch wait 5 s more for a new connection. A request
 * that did not end by itself would hang until the client gives up after 60 s.
 */
const STATEMENT_SECONDS = 4;
const LOG_LINE_LENGTH_MAX = 3_000;
const PASSWORD = 'hunter2secret';
const WAIT = { interval: 20 };
const TERMINATIONS = 10;

const slow: ResponsePolicy = (id) => ({ status: 204, afterMs: 200 + Math.round(chanceOf(id) * 600) });
const endpoints = [endpoint('slow'), endpoint('quick')];
/** Every payment of every test: at the end all of them are checked together. */
const all: Claim[] = [];
let outages = 0;
let postgres: Postgres;
let databaseUrl = '';
let inbox: Inbox;
let deployment: Deployment;
let server: ServerProcess;
let isStopped = false;

// A PostgreSQL for this file only, because it is stopped and frozen.
beforeAll(async () => {
  [postgres, inbox] = await Promise.all([
    startPostgres(),
    openInbox({
      slow,
      quick: () => ({ status: 204, afterMs: 0 }),
    }),
  ]);
  deployment = openDeployment(inbox, endpoints);
  const url = new URL(await postgres.createDatabase());
  // PostgreSQL accepts any password here; the test checks that it is never logged.
  url.password = PASSWORD;
  databaseUrl = url.href;
  server = await deployment.start({
    databaseUrl,
    env: { SANDBANK_STATEMENT_TIMEOUT: String(STATEMENT_SECONDS) },
  });
});
afterAll(async () => {
  await deployment?.remove();
  await inbox?.close();
  await postgres?.stop();
});
beforeEach(async () => {
  // A test that failed in the middle leaves PostgreSQL down or frozen.
  postgres.thaw();
  if (isStopped) await startAgain();
  await recovered();
});

async function stopPostgres(mode: 'fast' | 'immediate'): Promise<void> {
  isStopped = true;
  outages += 1;
  await postgres.stopServer(mode);
}

async function startAgain(): Promise<void> {
  await postgres.startServer();
  isStopped = false;
}

/** Creates payments like any client. A busy machine causes some 503 before the outage begins: those are repeated. */
function startCreates(name: string): Load {
  const outagesBefore = outages;
  return startLoad(server.url, name, undefined, async (...create) => {
    for (;;) {
      const answer = await createPayment(...create);
      if (answer.status !== 503 || outages > outagesBefore) return answer;
    }
  });
}

const statusOf = async (path: string): Promise<number> => (await call(server.url + path)).status;
const recovered = () => vi.waitUntil(async () => (await statusOf('/readyz')) === 200, WAIT);

/** Many creates at once, and some reads; acknowledged payments are recorded in their claims. */
async function volley(claims: readonly Claim[]): Promise<readonly Answer[]> {
  const creates = claims.map(async (claim) => {
    const answer = await createPayment(server.url, claim.key, claim.reference);
    if (answer.status === 201) claim.id = String(answer.body.id);
    return answer;
  });
  const reads = claims.slice(0, 10).map(() => call(server.url + PAYMENTS));
  return Promise.all([...creates, ...reads]);
}

/** All requests are repeated with their keys: then every payment exists once, with all its rows. */
async function expectConverged(claims: readonly Claim[]): Promise<void> {
  await retry(server.url, claims);
  all.push(...claims);
  await expectListed(server.url, all);
  await queryPostgres(databaseUrl, (query) =>
    expectCompleteRows(
      query,
      all.map(({ id }) => String(id)),
    ),
  );
}

it.each(['fast', 'immediate'] as const)(
  'a stop of PostgreSQL (%s) is answered with 503 until it is back, and nothing is lost or created twice',
  async (mode) => {
    inbox.answer('slow', () => undefined);
    const load = startCreates(mode);
    await load.acknowledged(100);
    await vi.waitUntil(() => inbox.open().length > 0, WAIT);
    await stopPostgres(mode);
    expect(inbox.open().length, 'deliveries are in flight').toBeGreaterThan(0);
    inbox.answer('slow', slow);
    await load.ended;
    expect(load.lost()).toBe(0);
    expectOnlyUnavailable(load.refused);

    const claims = newClaims(`gone-${mode}`, 40);
    const answers = await volley(claims);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expectOnlyUnavailable(answers);
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);
    // The outcomes of these deliveries cannot be stored until PostgreSQL is back.
    await vi.waitUntil(() => inbox.open().length === 0, WAIT);

    await startAgain();
    await recovered();
    await expectConverged([...load.claims, ...claims]);
  },
);

it('a connection that PostgreSQL closes is logged in a short line, without the password', async () => {
  await vi.waitUntil(() => server.logs().includes('database connection lost'), WAIT);
  expect(server.logs()).not.toContain(PASSWORD);
  const longest = Math.max(
    ...server
      .logs()
      .split('\n')
      .map((line) => line.length),
  );
  expect(longest).toBeLessThan(LOG_LINE_LENGTH_MAX);
});

it('backends that are terminated under load cause 201 or 503 only, and every retry converges', async () => {
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  const claims: Claim[] = [];
  for (let round = 0; round < TERMINATIONS; round += 1) {
    const load = startCreates(`${round}`);
    await load.acknowledged(20);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sandbank'`,
    );
    outages += 1;
    // Clients whose batch was hit end by themselves. The others continue, which proves that new connections are opened.
    await Promise.race([load.ended, load.acknowledged(60)]);
    load.stop();
    await load.ended;
    expect(load.lost()).toBe(0);
    expectOnlyUnavailable(load.refused);
    claims.push(...load.claims);
  }
  await admin.end();
  await expectConverged(claims);
});

it('a short freeze of PostgreSQL: every request is answered after it, and nothing is lost', async () => {
  const load = startCreates('short');
  await load.acknowledged(100);
  postgres.freeze();
  outages += 1;
  const claims = newClaims('short-frozen', 40);
  const pending = volley(claims);
  // This response takes two seconds, and that is how long the freeze lasts.
  expect(await statusOf('/readyz')).toBe(503);
  expect(await statusOf('/healthz')).toBe(200);
  postgres.thaw();
  load.stop();
  await load.ended;
  const answers = await pending;
  expect(load.lost()).toBe(0);
  expectOnlyUnavailable([...load.refused, ...answers.filter(({ status }) => status >= 300)]);
  await recovered();
  await expectConverged([...load.claims, ...claims]);
});

it('a long freeze of PostgreSQL: every request ends by itself with 503, and nothing is lost', async () => {
  const load = startCreates('long');
  await load.acknowledged(100);
  postgres.freeze();
  outages += 1;
  const claims = newClaims('long-frozen', 40);
  // PostgreSQL is frozen until all of them have ended.
  const answers = await volley(claims);
  await load.ended;
  expect(load.lost()).toBe(0);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expectOnlyUnavailable([...load.refused, ...answers]);
  postgres.thaw();
  await recovered();
  await expectConverged([...load.claims, ...claims]);
});

it('after all of it every event is delivered under one id, and every delivery is explained', async () => {
  await allSent(server.url);
  expect(await server.stop()).toBe(0);
  const { complaints } = await queryPostgres(databaseUrl, (query) =>
    // An outcome that could not be stored during an outage is lost, and its delivery is sent once more.
    auditDeliveries(query, {
      ...{ endpoints, arrivals: inbox.arrivals, refused: new Set<string>(), kills: outages },
      acknowledged: all.map(({ id }) => String(id)),
    }),
  );
  expect(complaints.slice(0, 10)).toEqual([]);
});
