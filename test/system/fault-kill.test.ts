import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { scopes } from '../../src/kernel/scopes.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { openReceiver } from '../support/receiver.ts';
import { decidedOn } from '../support/server.ts';
import { API_KEY, call } from './client.ts';

const plans = 'developer_api_fault_plans';
const events = 'developer_api_webhook_events';

type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

test.each(decidedOn('postgres'))(
  'on %s a killed process takes along neither an event that a plan held back nor a count',
  async (kind) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-faults-'));
    const seed = path.join(folder, 'seed.json');
    const apiKeys = [{ name: 'ci', key: API_KEY, scopes }];
    const applications = [{ name: 'web', apiKeys }];
    writeFileSync(seed, JSON.stringify({ organizations: [{ name: 'Acme', applications }] }));
    const place =
      kind === 'pglite'
        ? { dataDir: path.join(folder, 'data') }
        : {
            databaseUrl: await migratedDatabase(inject('postgresUrl')),
            env: { SANDBANK_PRIVATE_WEBHOOKS: 'on' },
          };
    const receiver = await openReceiver();
    let node: ServerProcess = await startServer({ ...place, seed });
    onTestFinished(async () => {
      await node.stop();
      await receiver.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const get = async (at: string) =>
      (await call(`${node.url}/_api/${at}`, { key: API_KEY })).body as Shown & { data: readonly Shown[] };
    const post = (at: string, body: unknown) =>
      call(`${node.url}/_api/${at}`, {
        ...{ method: 'POST', key: API_KEY, idempotencyKey: randomUUID(), body },
      });
    const made = async (at: string, body: unknown) => {
      const answer = await post(at, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body as Shown;
    };

    await made('developer_api_webhooks', { url: receiver.url, retryProfile: 'fast' });
    for (const fault of [{ type: 'delay', seconds: 3_600 }, { type: 'drop' }, { type: 'reorder' }])
      await made(plans, { on: 'webhooks', fault, count: 1 });
    const errors = await made(plans, {
      ...{ on: 'requests', fault: { type: 'error', code: 'internal_error' }, count: 3 },
      operations: ['listCustomers'],
    });
    const told: string[] = [];
    for (let i = 0; i < 3; i += 1) told.push((await made(events, { type: 'customer.created' })).id);
    const ask = async () => (await call(`${node.url}/_api/developer_api_customers`, { key: API_KEY })).status;
    expect([await ask(), await ask()]).toEqual([500, 500]);
    await expect.poll(async () => (await get(`${plans}?status=exhausted`)).data.length).toBe(3);

    await node.kill();
    node = await startServer({ ...place, seed });

    expect([await ask(), await ask()]).toEqual([500, 200]);
    expect(await get(`${plans}/${errors.id}`)).toMatchObject({ status: 'exhausted', seen: 3, applied: 3 });
    const advanced = await made('developer_api_clock/advance', { seconds: 7_200 });
    expect(advanced.complete).toBe(true);
    const came = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect([...new Set(came)].sort()).toEqual([...told].sort());
    for (const { status, applied } of (await get(plans)).data)
      expect([status, Number(applied) > 0]).toEqual(['exhausted', true]);
  },
);
