import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { applySeed } from '../../src/admin/seed.ts';
import { seededIdGenerator, seededNow } from '../../src/engine/id-generator.ts';
import { formatId, idTimestamp, isId } from '../../src/kernel/ids.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { openReceiver, type Receiver, withStatus } from '../support/receiver.ts';
import { openServer } from '../support/server.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const otherKey = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ02';
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

const servers: Server[] = [];
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => receiver.close());

async function start(seed: string): Promise<Server> {
  const server = await openServer('pglite', { deterministic: seed });
  servers.push(server);
  const apiKeys = (one: string) => [{ name: 'ci', key: one, scopes: [...scopes] }];
  await applySeed(
    {
      organizations: [
        { name: 'Acme', applications: [{ name: 'web', apiKeys: apiKeys(key) }] },
        { name: 'Other', applications: [{ name: 'web', apiKeys: apiKeys(otherKey) }] },
      ],
    },
    server,
    server.wallClock,
  );
  return server;
}

interface DayOptions {
  /** Runs between two writes. */
  readonly between?: (server: Server) => Promise<unknown>;
}

/** A working day of an integration: every resource, rejections, failing receivers and two weeks of clock time. */
async function runDay(server: Server, { between }: DayOptions = {}): Promise<string> {
  const client = new ApiClient(server.app, key);
  const transcript: string[] = [];
  let count = 0;
  const post = async (path: string, body?: unknown): Promise<Answer> => {
    count += 1;
    const answer = await client.post(path, body, { idempotencyKey: `step-${count}` });
    transcript.push(`${path} ${answer.status} ${answer.headers['request-id']} ${answer.text}`);
    await between?.(server);
    return answer;
  };
  receiver.answer(withStatus(500));
  const webhookInput = { url: receiver.url, secret, eventTypes: ['*'], retryProfile: 'standard' };
  await post('developer_api_webhooks', webhookInput);
  await post('developer_api_webhooks', { ...webhookInput, eventTypes: ['payment.*'] });
  const customer = await post('developer_api_customers', { name: 'Ada' });
  const payment = await post('developer_api_payments', {
    ...{ amount: 12_50, currency: 'EUR', customerId: customer.body.id, scenario: 'dispute' },
  });
  await post(`developer_api_payments/${payment.body.id}/advance`, { to: 'settled' });
  await post(`developer_api_payments/${payment.body.id}/refund`, { amount: 250 });
  await post(`developer_api_payments/${payment.body.id}/advance`, { action: 'no_such' });
  await post('developer_api_payments', { amount: 0, currency: 'EUR' });
  await post('developer_api_payments', { amount: 900, currency: 'GBP', autoAdvance: true });
  await post('developer_api_transfers', {
    ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, autoAdvance: true },
    beneficiary: { name: 'Bob' },
  });
  await post('developer_api_clock/advance', { seconds: 3 * 86_400 });
  // A plan without a seed derives it from the server's seed, so it affects the same requests.
  await post('developer_api_fault_plans', {
    ...{ on: 'requests', share: 50, operations: ['listCustomers'] },
    fault: { type: 'error', code: 'internal_error' },
  });
  for (let count = 0; count < 12; count += 1)
    transcript.push(String((await client.get('developer_api_customers')).status));
  receiver.answer(withStatus(204));
  await post('developer_api_clock/advance', { seconds: 11 * 86_400 });
  for (const path of [
    'developer_api_webhook_events',
    'developer_api_webhook_deliveries',
    'developer_api_ledger_entries',
    'developer_api_settlements',
    'developer_api_reconciliation',
    `developer_api_payments/${payment.body.id}/provider_events`,
    `developer_api_payments/${payment.body.id}/history`,
  ]) {
    const { body } = await client.get(path, path.includes('reconciliation') ? '' : 'limit=100');
    const { requestId: _, ...shown } = body;
    transcript.push(JSON.stringify(shown));
  }
  return transcript.join('\n');
}

/** The transcript of a day on a server with seed 42, and the webhooks it sent. Two tests compare other runs with it. */
let reference: Promise<{ readonly transcript: string; readonly sent: readonly string[] }> | undefined;
function referenceDay() {
  reference ??= (async () => {
    const transcript = await runDay(await start('42'));
    return { transcript, sent: takeReceived() };
  })();
  return reference;
}

/** The sorted bodies received since the last call. */
function takeReceived(): readonly string[] {
  const received = receiver.received as unknown as { body: string }[];
  return received
    .splice(0)
    .map(({ body }) => body)
    .sort();
}

describe('a deterministic server', () => {
  test('returns the same bytes for the same requests: ids, times, events, retries, ledger entries', async () => {
    const { transcript: first, sent } = await referenceDay();
    const second = await runDay(await start('42'));
    expect(second).toBe(first);
    expect(takeReceived()).toEqual(sent);
    expect(first).toContain('2026-01-15T');
    expect(first).toContain('completed');
    expect(first).toMatch(/\n500\n/);
    expect(first).toMatch(/\n200\n/);
  });

  test('is not affected by reads or by another organization', async () => {
    const { transcript: quiet } = await referenceDay();
    let writes = 0;
    const noisy = await runDay(await start('42'), {
      between: async (server) => {
        await new ApiClient(server.app, key).get('developer_api_payments');
        writes += 1;
        await new ApiClient(server.app, otherKey).post(
          'developer_api_payments',
          { amount: writes, currency: 'EUR' },
          { idempotencyKey: `noise-${writes}` },
        );
      },
    });
    expect(noisy).toBe(quiet);
  });

  test('creates other ids with another seed', async () => {
    const pay = async (seed: string) =>
      new ApiClient((await start(seed)).app, key).post('developer_api_payments', {
        amount: 1,
        currency: 'EUR',
      });
    const [{ body }, other] = await Promise.all([pay('43'), pay('44')]);
    expect(other.body.createdAt).toBe(body.createdAt);
    expect(other.body.id).not.toBe(body.id);
  });
});

describe('seeded ids', () => {
  test('are valid, increase with every write and never collide', () => {
    const idGenerator = seededIdGenerator('42');
    const seen = new Set<string>();
    let last = '';
    for (let request = 0; request < 200; request += 1) {
      const requestSuffix = idGenerator.request('org_a', 'write');
      expect(requestSuffix > last).toBe(true);
      const rows = idGenerator.rowSuffixes(requestSuffix);
      const steps = idGenerator.stepSuffixes(requestSuffix);
      const suffixes = [
        requestSuffix,
        ...Array.from({ length: 20 }, rows),
        ...Array.from({ length: 20 }, steps.next),
      ];
      suffixes.push(
        ...Array.from({ length: 20 }, steps.bookkeeping),
        idGenerator.background('org_a'),
        idGenerator.background('org_a'),
      );
      suffixes.push(idGenerator.request('org_a', 'read'), idGenerator.request('org_b', 'write'));
      for (const suffix of suffixes) {
        expect(isId('event', formatId('event', suffix))).toBe(true);
        expect(seen.has(suffix)).toBe(false);
        seen.add(suffix);
        // Within the time in which an event counts as new.
        expect(idTimestamp(suffix)).toBeGreaterThan(seededNow - 15_000);
        expect(idTimestamp(suffix)).toBeLessThanOrEqual(seededNow);
      }
      last = requestSuffix;
    }
  });

  test('of events differ in the prefix that delivery ids are derived from', () => {
    const idGenerator = seededIdGenerator('42');
    const heads = new Set<string>();
    for (let request = 0; request < 50; request += 1) {
      const requestSuffix = idGenerator.request('org_a', 'write');
      const rows = idGenerator.rowSuffixes(requestSuffix);
      for (const suffix of [requestSuffix, ...Array.from({ length: 100 }, rows)])
        heads.add(suffix.slice(0, 20));
    }
    expect(heads.size).toBe(50 * 101);
  });

  test('are the same when a command is decided again', () => {
    const idGenerator = seededIdGenerator('42');
    const requestSuffix = idGenerator.request('org_a', 'write');
    const [one, two] = [idGenerator.rowSuffixes(requestSuffix), idGenerator.rowSuffixes(requestSuffix)];
    expect([one(), one(), one()]).toEqual([two(), two(), two()]);
  });
});
