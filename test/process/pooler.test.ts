/** pgbouncer between the nodes and PostgreSQL, with the settings of docs/SCALING.md. */
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { runToEnd } from '../support/processes.ts';
import { findPrograms } from '../support/programs.ts';
import { expectCompleteRows, queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { expectListed, retry, startLoad } from './support/load.ts';
import { openPooler, type Pooler, type PoolMode } from './support/pooler.ts';
import { type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

const PAYMENTS = 300;

const found = findPrograms({ programs: ['pgbouncer'], packages: ['pgbouncer'] });
if ('missing' in found)
  process.stderr.write(`Skipped: the poolers (test/process/pooler.test.ts), because ${found.missing}.\n`);
const program = 'files' in found ? (found.files.pgbouncer ?? '') : '';

const opened: Pooler[] = [];
let deployment: Deployment | undefined;
let inbox: Inbox | undefined;
afterAll(async () => {
  await deployment?.remove();
  await inbox?.close();
  await Promise.all(opened.map((pooler) => pooler.stop()));
});

async function pooled(databaseUrl: string, mode: PoolMode): Promise<string> {
  const pooler = await openPooler(program, databaseUrl, mode);
  opened.push(pooler);
  return pooler.url;
}

describe.skipIf('missing' in found)('pgbouncer', () => {
  it('in session mode behaves like PostgreSQL: two nodes migrate, write, and deliver each event once', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const url = await pooled(databaseUrl, 'session');
    const endpoints = [endpoint('hook')];
    const box = await openInbox({ hook: () => ({ status: 204, afterMs: 0 }) });
    inbox = box;
    const servers = openDeployment(box, endpoints);
    deployment = servers;
    const [one, other] = await Promise.all([
      servers.start({ databaseUrl: url }),
      servers.start({ databaseUrl: url }),
    ]);
    const loads = [startLoad(one.url, 'one'), startLoad(other.url, 'other')];
    await Promise.all(loads.map((load) => load.acknowledged(PAYMENTS / loads.length)));
    for (const load of loads) load.stop();
    await Promise.all(loads.map((load) => load.ended));
    expect(loads.flatMap(({ refused }) => refused)).toEqual([]);

    const claims = loads.flatMap((load) => load.claims);
    // Each node repeats the responses of the other.
    expect(await retry(other.url, claims)).toEqual({ repeated: claims.length, found: 0, created: 0 });
    await expectListed(one.url, claims);
    await allSent(one.url);
    expect(await Promise.all([one.stop(), other.stop()])).toEqual([0, 0]);
    const ids = claims.map(({ id }) => String(id));
    const { complaints, extra } = await queryPostgres(databaseUrl, async (query) => {
      await expectCompleteRows(query, ids);
      return auditDeliveries(query, {
        ...{ endpoints, arrivals: box.arrivals, acknowledged: ids, refused: new Set<string>() },
        kills: 0,
      });
    });
    expect({ complaints: complaints.slice(0, 10), extra }).toEqual({ complaints: [], extra: 0 });
  });

  const refused = `DATABASE_URL leads to a pooler in transaction or statement mode, where prepared statements, locks and settings do not stay with a connection. Use its session mode, or connect to PostgreSQL directly.`;

  it.each([
    ['transaction', 'the server does not start', [], 'Sandbank did not start.'],
    ['transaction', 'the command migrate is refused', ['migrate'], 'Nothing was migrated.'],
    ['statement', 'the server does not start', [], 'Sandbank did not start.'],
  ] as const)('in %s mode, %s, and nothing is written', async (mode, _name, args, consequence) => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const { code, stdout, stderr } = await runToEnd({
      databaseUrl: await pooled(databaseUrl, mode),
      args,
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: ${consequence} ${refused}\n`,
    });
    const tables = await queryPostgres(databaseUrl, (query) =>
      query(`select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`),
    );
    expect(tables).toEqual([]);
  });
});
