import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { type Answer, call, createPayment, PAYMENTS, temporaryFolder } from './client.ts';
import { type Claim, expectListed, expectOnlyUnavailable, newClaims, retry, startLoad } from './load.ts';
import { expectWhole, queryPostgres } from './records.ts';

// While PostgreSQL is gone an answer comes at once; while it is silent a new connection is waited for 5 s.
const GONE_MS_MAX = 8_000;
// The engine waits 10 s for the answer to a query, and what waited behind that batch 5 s for a new connection.
const SILENT_MS_MAX = 30_000;
const LOG_LINE_LENGTH_MAX = 3_000;
const PASSWORD = 'hunter2secret';
const RECOVERY_MS_MAX = 15_000;

const folder = temporaryFolder();
let postgres: Postgres;
let databaseUrl = '';
let server: ServerProcess;
let isStopped = false;

// A PostgreSQL of this file's own: the one of the run belongs to everybody.
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await server?.kill();
  await postgres?.stop();
  folder.remove();
});

/** Every test begins with a fresh database and a fresh server. */
async function begin(): Promise<void> {
  const url = new URL(await postgres.createDatabase());
  // The server trusts everybody, so any password will do; it must never be seen again.
  url.password = PASSWORD;
  databaseUrl = url.href;
  server = await startServer({ databaseUrl, seed: folder.seed });
}
afterEach(async () => {
  postgres.thaw();
  // A test that failed half way leaves PostgreSQL down, and the next one wants it up.
  if (isStopped) await startAgain();
  expect(await server.stop()).toBe(0);
});

async function stopPostgres(mode: 'fast' | 'immediate'): Promise<void> {
  isStopped = true;
  await postgres.stopServer(mode);
}

async function startAgain(): Promise<void> {
  await postgres.startServer();
  isStopped = false;
}

const statusOf = async (path: string): Promise<number> => (await call(server.url + path)).status;

function recovered(): Promise<unknown> {
  return vi.waitUntil(async () => (await statusOf('/readyz')) === 200, {
    timeout: RECOVERY_MS_MAX,
    interval: 50,
  });
}

/** Many creates at once, and some reads; what was acknowledged is noted in the claim. */
async function volley(claims: readonly Claim[]): Promise<readonly Answer[]> {
  const creates = claims.map(async (claim) => {
    const answer = await createPayment(server.url, claim.key, claim.reference);
    if (answer.status === 201) claim.id = String(answer.body.id);
    return answer;
  });
  const reads = claims.slice(0, 10).map(() => call(server.url + PAYMENTS));
  return Promise.all([...creates, ...reads]);
}

const slowest = (answers: readonly Answer[]): number =>
  Math.round(Math.max(...answers.map(({ durationMs }) => durationMs)));
const refusedOf = (answers: readonly Answer[]) =>
  answers.filter(({ status }) => status !== 201 && status !== 200);

/** All is retried with the same keys; then every payment is there once, with all its rows. */
async function expectConverged(claims: readonly Claim[]): Promise<void> {
  await retry(server.url, claims);
  await expectListed(server.url, claims);
  await queryPostgres(databaseUrl, (query) =>
    expectWhole(
      query,
      claims.map(({ id }) => String(id)),
    ),
  );
}

describe.each(['fast', 'immediate'] as const)('PostgreSQL stops (%s) under load and starts again', (mode) => {
  it('is answered with 503 until it is back, and nothing is lost or made twice', async () => {
    await begin();
    const load = startLoad(server.url, 'load');
    await load.acknowledged(200);
    await stopPostgres(mode);
    await load.ended;
    expect(load.lost()).toBe(0);
    expectOnlyUnavailable(load.refused);

    const claims = newClaims('gone', 40);
    const answers = await volley(claims);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expectOnlyUnavailable(answers);
    console.log(`stopped (${mode}): the slowest answer took ${slowest([...load.refused, ...answers])} ms`);
    expect(slowest([...load.refused, ...answers])).toBeLessThan(GONE_MS_MAX);
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);

    await startAgain();
    await recovered();
    await expectConverged([...load.claims, ...claims]);
  });
});

describe('a connection that PostgreSQL closes', () => {
  it('is told in a short line for a person, without the password', async () => {
    await begin();
    await stopPostgres('fast');
    expect(await statusOf('/readyz')).toBe(503);
    await vi.waitUntil(() => server.logs().includes('database connection lost'));
    expect(server.logs()).not.toContain(PASSWORD);
    const longest = Math.max(
      ...server
        .logs()
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThan(LOG_LINE_LENGTH_MAX);
  });
});

describe('backends are terminated under load', () => {
  it('is answered with 201 or 503 only, and every retry converges', async () => {
    await begin();
    const admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    const claims: Claim[] = [];
    const refused: Answer[] = [];
    for (let round = 0; round < 10; round += 1) {
      const load = startLoad(server.url, `${round}`);
      await load.acknowledged(30);
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sandbank'`,
      );
      // Those whose batch was hit end by themselves. The others go on, which proves that new connections are made.
      await Promise.race([load.ended, load.acknowledged(100)]);
      load.stop();
      await load.ended;
      expect(load.lost()).toBe(0);
      refused.push(...load.refused);
      claims.push(...load.claims);
    }
    await admin.end();
    console.log(`terminated 10 times: ${refused.length} of ${claims.length} were answered with 503`);
    expectOnlyUnavailable(refused);
    await expectConverged(claims);
  });
});

describe('PostgreSQL is frozen', () => {
  it('for a short while: every request is answered after it, and nothing is lost', async () => {
    await begin();
    const load = startLoad(server.url, 'load');
    await load.acknowledged(200);
    postgres.freeze();
    const claims = newClaims('frozen', 40);
    const pending = volley(claims);
    // This answer takes two seconds, and that is how long the freeze lasts.
    expect(await statusOf('/readyz')).toBe(503);
    expect(await statusOf('/healthz')).toBe(200);
    postgres.thaw();
    load.stop();
    await load.ended;
    const answers = await pending;
    expect(load.lost()).toBe(0);
    const refused = [...load.refused, ...refusedOf(answers)];
    console.log(
      `frozen for a short while: ${refused.length} of ${answers.length + load.claims.length} got 503`,
    );
    expectOnlyUnavailable(refused);
    await recovered();
    await expectConverged([...load.claims, ...claims]);
  });

  it('for long: every request ends by itself with 503, and nothing is lost', async () => {
    await begin();
    const load = startLoad(server.url, 'load');
    await load.acknowledged(200);
    postgres.freeze();
    const claims = newClaims('frozen', 40);
    const answers = await volley(claims);
    await load.ended;
    const refused = [...load.refused, ...answers];
    console.log(`frozen for long: the slowest answer took ${slowest(refused)} ms`);
    expect(load.lost()).toBe(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expectOnlyUnavailable(refused);
    expect(slowest(refused)).toBeLessThan(SILENT_MS_MAX);
    postgres.thaw();
    await recovered();
    await expectConverged([...load.claims, ...claims]);
  });
});
