import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';
import { head, RawConnection } from '../support/raw-connection.ts';
import {
  API_KEY,
  call,
  createPayment,
  expectRefusal,
  type Folder,
  PAYMENTS,
  temporaryFolder,
} from './support/client.ts';
import { type Claim, expectListed, newClaims, retry, startLoad } from './support/load.ts';

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
  await Promise.all(started.splice(0).map((server) => server.kill()));
  folder.remove();
});

async function start(options: ServerOptions): Promise<ServerProcess> {
  const server = await startServer({ ...options, seed: folder.seed });
  started.push(server);
  return server;
}

async function connect({ url }: ServerProcess): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  open.push(connection);
  return connection;
}

/** The exit code, after the process has ended. */
async function ended({ child }: ServerProcess): Promise<unknown> {
  const [code] = await once(child, 'close');
  return code;
}

/** Resolves once the server refuses connections: it completes pending requests and accepts no new ones. */
async function refusesConnections(server: ServerProcess): Promise<void> {
  await vi.waitUntil(
    () =>
      RawConnection.open(server.url).then(
        (connection) => {
          connection.close();
          return false;
        },
        () => true,
      ),
    { interval: 5 },
  );
}

const bodyOf = ({ reference }: Claim): string => JSON.stringify({ amount: 1250, currency: 'EUR', reference });

/** A create request that the server handles already, because it answered 100 Continue. Its body is still missing. */
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

async function readCreated(connection: RawConnection, claim: Claim): Promise<void> {
  const answer = await connection.next();
  expect(answer?.status).toBe(201);
  claim.id = String((JSON.parse(answer?.text ?? '{}') as { id?: unknown }).id);
}

const embedded = async (): Promise<ServerOptions> => ({ dataDir });
const postgres = async (): Promise<ServerOptions> => ({
  databaseUrl: await migratedDatabase(inject('postgresUrl')),
});

describe.each([
  ['SIGTERM', 'the embedded database', embedded],
  ['SIGINT', 'the embedded database', embedded],
  ['SIGTERM', 'PostgreSQL', postgres],
] as const)('%s under load on %s', (signal, _name, place) => {
  it('answers every request it has begun, keeps every answered write, and exits with 0', async () => {
    const options = await place();
    const server = await start(options);
    const load = startLoad(server.url, 'load');
    await load.acknowledged(200);
    const begun = await Promise.all(
      newClaims('begun', 4).map(async (claim) => ({ claim, connection: await begin(server, claim) })),
    );
    const probe = await connect(server);
    probe.send('GET /readyz HTTP/1.1\r\nHost: sandbank\r\n');
    // An answer on another connection shows that the server has read the incomplete request before. Under load, /readyz may be 503.
    expect((await call(`${server.url}/healthz`)).status).toBe(200);

    const end = ended(server);
    server.child.kill(signal);
    await refusesConnections(server);
    probe.send('\r\n');
    for (const { claim, connection } of begun) connection.send(bodyOf(claim));
    const readiness = await probe.next();
    if (readiness === undefined) throw new Error('The server cut a request that it had begun.');
    expectRefusal({ ...readiness, body: JSON.parse(readiness.text) }, 'service_unavailable');
    for (const { claim, connection } of begun) await readCreated(connection, claim);

    expect(await end).toBe(0);
    await load.ended;
    expect(load.refused.map(({ status }) => status)).toEqual([]);
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(false);

    const again = await start(options);
    const claims = [...load.claims, ...begun.map(({ claim }) => claim)];
    const { found, created } = await retry(again.url, claims);
    console.log(`${signal}: ${claims.length - found - created} answered, ${created} not begun`);
    // A payment that was written was also answered.
    expect(found).toBe(0);
    await expectListed(again.url, claims);
  });
});

describe('a signal', () => {
  it('ends a server that has only just reported that it listens', async () => {
    const options = await postgres();
    const stopAtOnce = async () => (await start(options)).stop();
    expect(await Promise.all(Array.from({ length: 6 }, stopAtOnce))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  /**
   * The server cuts an incomplete request after ten seconds and then exits. A server without a reason to wait has to exit before one
   * that waits for this cut and got its signal first: an order of events, so a slow machine does not change the result.
   */
  it('waits only for requests that it has begun, and for these not forever', async () => {
    const options = await postgres();
    const [waiting, idle, answered] = await Promise.all([start(options), start(options), start(options)]);
    const exits: string[] = [];
    const exit = async (name: string, server: ServerProcess) => {
      const code = await ended(server);
      exits.push(name);
      return code;
    };
    const codes = Promise.all([exit('waiting', waiting), exit('idle', idle), exit('answered', answered)]);
    const [endless, last] = newClaims('begun', 2) as [Claim, Claim];
    await begin(waiting, endless);
    const connection = await begin(answered, last);
    // Clients keep these open: two have sent nothing, one has its answer.
    await Promise.all([connect(idle), connect(idle)]);
    const used = await connect(idle);
    used.send(head('GET /healthz'));
    expect((await used.next())?.status).toBe(200);

    waiting.child.kill('SIGTERM');
    await refusesConnections(waiting);
    idle.child.kill('SIGTERM');
    answered.child.kill('SIGTERM');
    await refusesConnections(answered);
    connection.send(bodyOf(last));
    await readCreated(connection, last);
    expect(await codes).toEqual([0, 0, 0]);
    expect(exits.at(-1)).toBe('waiting');
  });

  it('that is repeated ends the server immediately with 1, and loses no data', async () => {
    // The first signal alone would take five minutes.
    const env = { SANDBANK_DRAIN_SECONDS: '300', LOG_LEVEL: 'info' };
    const server = await start({ dataDir, env });
    expect((await createPayment(server.url, 'stored', 'stored')).status).toBe(201);
    const [claim] = newClaims('endless', 1) as [Claim];
    await begin(server, claim);
    const end = ended(server);
    server.child.kill('SIGTERM');
    await vi.waitUntil(() => /"msg":"shutting down/.test(server.logs()), { interval: 10 });
    server.child.kill('SIGTERM');
    expect(await end).toBe(1);

    const again = await start({ dataDir });
    expect(await createPayment(again.url, 'stored', 'stored')).toMatchObject({ status: 201, isReplay: true });
  });

  it('waits for a write that PostgreSQL has not finished', async () => {
    const options = await postgres();
    // The trigger below holds the write for as long as the test needs.
    const server = await start({ ...options, env: { SANDBANK_STATEMENT_TIMEOUT: '300' } });
    const other = new pg.Client({ connectionString: options.databaseUrl });
    await other.connect();
    await other.query(`create table gate (is_open boolean); insert into gate values (false);
      create function wait_for_gate() returns trigger language plpgsql as $$ begin
        while not (select is_open from gate) loop perform pg_sleep(0.01); end loop; return new;
      end $$;
      create trigger held before insert on payments for each row execute function wait_for_gate()`);
    const payment = createPayment(server.url, 'held', 'held');
    const held = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    await vi.waitUntil(async () => (await other.query(held)).rows.length > 0, { interval: 10 });
    const end = ended(server);
    server.child.kill('SIGTERM');
    await refusesConnections(server);
    await other.query('update gate set is_open = true');
    expect((await payment).status).toBe(201);
    expect(await end).toBe(0);
    expect((await other.query('select 1 from payments')).rows).toHaveLength(1);
    await other.end();
  });
});
