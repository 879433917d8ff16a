import { chownSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, ApiClient } from '../support/api-client.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { queryOnce } from './support/postgres-pair.ts';
import { mountSmallDisk, type SmallDisk } from './support/small-disk.ts';

const payments = 'developer_api_payments';
const VOLLEY = 25;
const VOLLEYS_MAX = 200;

const clean: (() => unknown)[] = [];
afterAll(async () => {
  for (const work of clean.reverse()) await work();
});

const create = (client: ApiClient, key: string) =>
  client.post(payments, { amount: 3, currency: 'EUR', reference: key }, { idempotencyKey: key });

/** Creates payments until one is rejected; returns the responses by key. */
async function createUntilRefused(client: ApiClient): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (let volley = 0; volley < VOLLEYS_MAX; volley += 1) {
    const keys = Array.from({ length: VOLLEY }, (_, i) => `${volley}-${i}`);
    await Promise.all(keys.map(async (key) => answers.set(key, await create(client, key))));
    if ([...answers.values()].some(({ status }) => status !== 201)) return answers;
  }
  throw new Error('The server rejected no write although the disk is full.');
}

/** Repeats every request: acknowledged ones are replayed, the others executed; every payment exists once. */
async function expectEachOnce(client: ApiClient, answers: ReadonlyMap<string, Answer>): Promise<void> {
  const ids = new Set<string>();
  for (const [key, before] of answers) {
    const again = await create(client, key);
    expect(again.status, again.text).toBe(201);
    if (before.status === 201) expect(again.text).toBe(before.text);
    ids.add(again.body.id);
  }
  expect(ids.size).toBe(answers.size);
}

async function expectSound(server: Server, count: number): Promise<void> {
  const found = await verify(server.database);
  expect(found.checks.flatMap(({ differences }) => differences)).toEqual([]);
  expect(found.counts.payments).toBe(count);
}

describe('PostgreSQL on a full disk', () => {
  it('rejects writes with 503 and serves reads until space is free again', async () => {
    const postgres = await startPostgres();
    clean.push(() => postgres.stop());
    const disk = mountSmallDisk(40);
    if (disk) clean.push(() => disk.remove());
    const { databaseUrl, fill, free } = await databaseOn(postgres, disk);
    const server = await openServer('postgres', { databaseUrl, secret: 's'.repeat(32) });
    clean.push(() => server.close());
    const { client } = await tenant(server);
    await create(client, 'before');
    await fill();
    const answers = await createUntilRefused(client);
    const refused = [...answers.values()].filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['service_unavailable']));
    expect((await client.get(payments)).status).toBe(200);
    await free();
    await expectEachOnce(client, answers);
    await expectSound(server, answers.size + 1);
    console.log(
      `disk of PostgreSQL full (${disk ? 'a full tablespace' : 'SQLSTATE 53100 of a trigger'}): ` +
        `${refused.length} of ${answers.size} refused`,
    );
  });
});

/** Puts the tables on the small disk; where none can be mounted, a trigger raises the same error. */
async function databaseOn(postgres: Postgres, disk: SmallDisk | undefined) {
  if (disk) {
    const space = path.join(disk.path, 'space');
    const { uid, gid } = statSync(postgres.dataDirectory);
    mkdirSync(space);
    chownSync(space, uid, gid);
    await queryOnce(postgres, `create tablespace small location '${space}'`);
    await queryOnce(postgres, 'create database small tablespace small');
    const databaseUrl = postgres.url.replace(/postgres$/, 'small');
    return { databaseUrl, fill: () => disk.fill(), free: () => disk.free() };
  }
  const databaseUrl = await postgres.createDatabase();
  const run = (sql: string) => queryOnce({ url: databaseUrl }, sql);
  return {
    databaseUrl,
    fill: async () => {
      await run(`create function full_disk() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
      await run('create trigger full_disk before insert on payments execute function full_disk()');
    },
    free: () => run('drop trigger full_disk on payments'),
  };
}

const disk = mountSmallDisk(120);
if (disk) clean.push(() => disk.remove());
else
  console.log('Skipped, because no file system can be mounted here: the full disk of the embedded database.');

describe.runIf(disk)('the embedded database on a full disk', () => {
  it('rejects writes with 503 and serves reads until space is free again, and loses nothing', async () => {
    if (!disk) return;
    const dataDirectory = path.join(disk.path, 'data');
    const server = await openServer('pglite', { dataDirectory });
    const { client, clientOn } = await tenant(server);
    await create(client, 'before');
    disk.fill();
    const answers = await createUntilRefused(client);
    const refused = [...answers.values()].filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['service_unavailable']));
    expect((await client.get(payments)).status).toBe(200);
    disk.free();
    await expectEachOnce(client, answers);
    await server.close();

    const next = await openServer('pglite', { dataDirectory });
    clean.push(() => next.close());
    for (const key of answers.keys()) {
      const { headers } = await create(clientOn(next.app), key);
      expect(headers['idempotent-replayed']).toBe('true');
    }
    await expectSound(next, answers.size + 1);
  });
});
