import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';
import {
  API_KEY,
  call,
  createPayment,
  expectRefusal,
  type Folder,
  PAYMENTS,
  temporaryFolder,
} from './client.ts';
import { type Claim, expectListed, newClaims, retry, startLoad } from './load.ts';
import { head, RawConnection } from './raw-connection.ts';

// The server cuts connections after ten seconds; what it has no reason to wait for must end far sooner.
const PROMPT_MS_MAX = 5_000;
const CUT_MS_MAX = 15_000;

let folder: Folder;
let dataDir = '';
const started: ServerProcess[] = [];
const open: RawConnection[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = path.join(folder.path, 'data');
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  for (const server of started.splice(0)) await server.kill();
  folder.remove();
});

async function start(options: ServerOptions = { dataDir }): Promise<ServerProcess> {
  const server = await startServer({ ...options, seed: folder.seed });
  started.push(server);
  return server;
}

async function connect({ url }: ServerProcess): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  open.push(connection);
  return connection;
}

/** The exit code and how long it took to come to it. */
async function ended({ child }: ServerProcess): Promise<{ code: unknown; tookMs: number }> {
  const since = performance.now();
  const [code] = await once(child, 'close');
  return { code, tookMs: performance.now() - since };
}

/** Draining has begun when nobody can connect any more. */
async function drainingOf(server: ServerProcess): Promise<void> {
  await vi.waitUntil(
    () =>
      RawConnection.open(server.url).then(
        (connection) => {
          connection.close();
          return false;
        },
        () => true,
      ),
    { timeout: PROMPT_MS_MAX, interval: 5 },
  );
}

const bodyOf = ({ reference }: Claim): string => JSON.stringify({ amount: 1250, currency: 'EUR', reference });

/** A create that the server has begun to handle, because it said "go on"; only its body is missing. */
async function begin(server: ServerProcess, claim: Claim): Promise<RawConnection> {
  const connection = await connect(server);
  connection.send(
    head(
      `POST ${PAYMENTS}`,
      `Authorization: Bearer ${API_KEY}`,
      `Idempotency-Key: ${claim.key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(bodyOf(claim))}`,
      'Expect: 100-continue',
    ),
  );
  expect((await connection.next())?.status).toBe(100);
  return connection;
}

async function complete(connection: RawConnection, claim: Claim): Promise<void> {
  connection.send(bodyOf(claim));
  const answer = await connection.next();
  expect(answer?.status).toBe(201);
  claim.id = String((JSON.parse(answer?.text ?? '{}') as { id?: unknown }).id);
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s under load', (signal) => {
  it('answers all that was begun, keeps all that was answered, and ends well', async () => {
    const server = await start();
    const load = startLoad(server.url, 'load');
    await load.acknowledged(200);
    const begun = await Promise.all(
      newClaims('begun', 4).map(async (claim) => ({ claim, connection: await begin(server, claim) })),
    );
    const probe = await connect(server);
    probe.send('GET /readyz HTTP/1.1\r\nHost: sandbank\r\n');
    // An answer on another connection shows that the server has read the half request before.
    expect((await call(`${server.url}/readyz`)).status).toBe(200);

    const end = ended(server);
    server.child.kill(signal);
    await drainingOf(server);
    probe.send('\r\n');
    const readiness = await probe.next();
    if (readiness === undefined) throw new Error('A request that was under way was cut.');
    expectRefusal({ ...readiness, body: JSON.parse(readiness.text) }, 'service_unavailable');
    for (const { claim, connection } of begun) await complete(connection, claim);

    expect((await end).code).toBe(0);
    await load.ended;
    expect(load.refused.map(({ status }) => status)).toEqual([]);
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(false);

    const again = await start();
    const claims = [...load.claims, ...begun.map(({ claim }) => claim)];
    const { found, made } = await retry(again.url, claims);
    console.log(`${signal}: ${claims.length - found - made} answered, ${made} not begun`);
    // A payment that was written was also answered.
    expect(found).toBe(0);
    await expectListed(again.url, claims);
  });
});

// On PostgreSQL, where a start is cheap: what is tried here is the same on both databases.
describe('a signal', () => {
  const startShared = async () => start({ databaseUrl: await migratedDatabase(inject('postgresUrl')) });

  it('ends a server well that has only just said that it is running', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const stopAtOnce = async () => (await start({ databaseUrl })).stop();
    expect(await Promise.all(Array.from({ length: 6 }, stopAtOnce))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('ends an idle server at once, whose clients keep their connections open, or open some for later', async () => {
    const server = await startShared();
    await Promise.all([connect(server), connect(server)]);
    const idle = await connect(server);
    idle.send(head('GET /healthz'));
    expect((await idle.next())?.status).toBe(200);
    const end = ended(server);
    server.child.kill('SIGTERM');
    const { code, tookMs } = await end;
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(PROMPT_MS_MAX);
  });

  it('does not wait for a client that keeps its connection open after the last answer', async () => {
    const server = await startShared();
    const [claim] = newClaims('last', 1) as [Claim];
    const connection = await begin(server, claim);
    const end = ended(server);
    server.child.kill('SIGTERM');
    await drainingOf(server);
    await complete(connection, claim);
    const answeredAt = performance.now();
    expect((await end).code).toBe(0);
    const tookMs = Math.round(performance.now() - answeredAt);
    console.log(`from the last answer to the end: ${tookMs} ms`);
    expect(tookMs).toBeLessThan(PROMPT_MS_MAX);
  });

  it('does not wait for ever for a request that never becomes whole', async () => {
    const server = await startShared();
    const [claim] = newClaims('endless', 1) as [Claim];
    await begin(server, claim);
    const end = ended(server);
    server.child.kill('SIGTERM');
    const { code, tookMs } = await end;
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(CUT_MS_MAX);
  });

  it('that comes a second time does not wait at all, and harms nothing', async () => {
    const server = await start();
    expect((await createPayment(server.url, 'kept', 'kept')).status).toBe(201);
    const [claim] = newClaims('endless', 1) as [Claim];
    await begin(server, claim);
    const end = ended(server);
    server.child.kill('SIGTERM');
    await drainingOf(server);
    server.child.kill('SIGTERM');
    const { code, tookMs } = await end;
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(PROMPT_MS_MAX);

    const again = await start();
    expect(await createPayment(again.url, 'kept', 'kept')).toMatchObject({ status: 201, isReplay: true });
  });

  it('waits for a write that is held up in PostgreSQL', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const server = await start({ databaseUrl });
    const customer = await call(`${server.url}/_api/developer_api_customers`, {
      method: 'POST',
      idempotencyKey: 'customer',
      body: { name: 'Ada' },
    });
    const other = new pg.Client({ connectionString: databaseUrl });
    await other.connect();
    await other.query('begin');
    await other.query('select 1 from customers for update');

    const payment = call(server.url + PAYMENTS, {
      method: 'POST',
      idempotencyKey: 'payment',
      body: { amount: 1250, currency: 'EUR', customerId: customer.body.id },
    });
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitUntil(async () => (await other.query(waiting)).rows.length > 0, { interval: 10 });
    const end = ended(server);
    server.child.kill('SIGTERM');
    await drainingOf(server);
    await other.query('commit');
    expect((await payment).status).toBe(201);
    expect((await end).code).toBe(0);
    expect((await other.query('select 1 from payments')).rows).toHaveLength(1);
    await other.end();
  });
});
