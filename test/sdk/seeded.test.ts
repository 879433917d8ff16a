import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandbankError } from '../../sdk/errors.ts';
import { type SandbankServer, startSandbank, type Tenant } from '../../sdk/testing.ts';
import { openExaminee } from '../examiner/receivers.ts';

const euros = { amount: 1_250, currency: 'EUR' } as const;
const once = (key: string) => ({ idempotencyKey: key });

async function raw(sandbank: SandbankServer, tenant: Tenant, path: string): Promise<string> {
  const answer = await fetch(`${sandbank.url}/_api/${path}`, {
    headers: { authorization: `Bearer ${tenant.apiKey}` },
  });
  return answer.text();
}

describe('a server with a seed', () => {
  /** Two servers with the same seed, which receive the same requests in the same order. */
  let servers: readonly SandbankServer[] = [];
  beforeAll(async () => {
    servers = await Promise.all([startSandbank({ seed: 42 }), startSandbank({ seed: 42 })]);
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  test('repeats the ids of organizations, payments, forks, their records and examinations', async () => {
    const runs: unknown[] = [];
    for (const sandbank of servers) {
      const tenant = await sandbank.tenant({ name: 'source' });
      const receiver = await openExaminee();
      const webhook = await tenant.client.webhooks.create(
        { url: receiver.url, eventTypes: ['*'] },
        once('webhook'),
      );
      const payment = await tenant.client.payments.create(euros, once('payment'));
      const { id: examination } = await tenant.client.webhooks.examine(
        webhook.id,
        { cases: ['valid_signature'] },
        once('examination'),
      );
      const sent = receiver.handled.map(({ headers }) => headers['webhook-id']);
      const forks = await Promise.all(['one', 'two'].map((name) => tenant.fork(name)));
      const created = await Promise.all(
        forks.map((fork) => fork.client.payments.create(euros, once('fork'))),
      );
      const endpoints = await Promise.all(forks.map((fork) => fork.client.webhooks.list()));
      runs.push({
        organizationId: tenant.organizationId,
        payment,
        examination,
        sent,
        forks: forks.map(({ organizationId, applicationId }) => [organizationId, applicationId]),
        endpoints: endpoints.map(({ data }) => data.map(({ id }) => id)),
        created,
      });
    }
    expect(runs[1]).toEqual(runs[0]);
    const [first] = runs as { forks: string[][] }[];
    expect(new Set(first?.forks.flat()).size).toBe(4);
  });

  test('error responses are byte-identical on every port, and the SDK still shows a documentation link', async () => {
    const texts: string[] = [];
    for (const sandbank of servers) {
      const tenant = await sandbank.tenant({ name: 'errors' });
      texts.push(await raw(sandbank, tenant, 'developer_api_payments/pay_00000000000000000000000000'));
      const failure = (await tenant.client.payments
        .create({ ...euros, customerId: 'cus_00000000000000000000000000' })
        .catch((error: unknown) => error)) as SandbankError;
      expect(failure.docUrl).toBe(`${sandbank.url}/docs/errors#customer_not_found`);
      expect((await fetch(String(failure.docUrl))).status).toBe(200);
    }
    expect(texts[0]).toContain('resource_not_found');
    expect(texts[1]).toBe(texts[0]);
  });

  test('signs webhooks with the real time, so that the test kit and a strict receiver accept them', async () => {
    // Only the first server receives these requests, so this test runs last.
    const tenant = await (servers[0] as SandbankServer).tenant({ name: 'signed' });
    const webhooks = await tenant.webhooks.capture();
    await tenant.client.payments.create(euros);
    const captured = await webhooks.waitFor('payment.created');
    expect(webhooks.refused).toEqual([]);
    // Only the signature uses the real time; the payload uses the application clock.
    expect(captured.event.timestamp).toBe('2026-01-01T00:00:00.000Z');

    let secret = '';
    const careful = await openExaminee({
      verify: ({ rawBody, headers }) => new Webhook(secret).verify(rawBody, headers),
    });
    const webhook = await tenant.client.webhooks.create({ url: careful.url, eventTypes: ['*'] });
    secret = webhook.secret ?? '';
    const report = await tenant.client.webhooks.examine(webhook.id);
    expect(report.cases.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect(report).toMatchObject({ grade: 'A', score: 100 });
  });
});
