import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TimeoutError } from '../../sdk/errors.ts';
import { connectSandbank, LedgerImbalance, type SandbankServer, startSandbank } from '../../sdk/testing.ts';

let sandbank: SandbankServer;
let startMs = 0;
beforeAll(async () => {
  const startedAt = performance.now();
  sandbank = await startSandbank();
  startMs = performance.now() - startedAt;
});
afterAll(() => sandbank.close());

const euros = { amount: 1_250, currency: 'EUR' } as const;

describe('a tenant', () => {
  test('is an organization that is isolated from others', async () => {
    const [one, two] = await Promise.all([sandbank.tenant(), sandbank.tenant()]);
    const { id } = await one.client.payments.create(euros);
    await expect(two.client.payments.retrieve(id)).rejects.toMatchObject({ code: 'resource_not_found' });
    expect(one.organizationId).not.toBe(two.organizationId);
  });

  test('has the requested scopes', async () => {
    const tenant = await sandbank.tenant({ scopes: ['payments:read'] });
    await expect(tenant.client.payments.create(euros)).rejects.toMatchObject({ code: 'scope_missing' });
  });

  test('is created on the running server, many times faster than starting one', async () => {
    await sandbank.tenant();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 100 }, () => sandbank.tenant()));
    const eachMs = (performance.now() - startedAt) / 100;
    console.info(`tenant created in ${eachMs.toFixed(1)} ms, server started in ${startMs.toFixed(0)} ms`);
    // Relative to the same machine; the bench measures the absolute duration.
    expect(eachMs).toBeLessThan(startMs / 4);
  });

  test('reset deletes its data, but not its key and its endpoints', async () => {
    const tenant = await sandbank.tenant();
    await tenant.webhooks.capture();
    await tenant.client.payments.create(euros);
    await tenant.clock.advance({ days: 3 });
    await tenant.reset();
    expect((await tenant.client.payments.list()).data).toEqual([]);
    expect((await tenant.client.webhooks.list()).data).toHaveLength(1);
    expect(Math.abs(Number(await tenant.clock.now()) - Date.now())).toBeLessThan(60_000);
  });

  test('can be forked by many tests in parallel', async () => {
    const tenant = await sandbank.tenant();
    const { id } = await tenant.client.payments.create(euros);
    const copies = await Promise.all(Array.from({ length: 16 }, () => tenant.fork()));
    expect(new Set(copies.map(({ organizationId }) => organizationId)).size).toBe(16);
    expect((await copies.at(-1)?.client.payments.retrieve(id))?.id).toBe(id);
  });

  test('is copied by fork, and another server can start from a snapshot', async () => {
    const tenant = await sandbank.tenant();
    const { id } = await tenant.client.payments.create(euros);
    const copy = await tenant.fork();
    expect(copy.organizationId).not.toBe(tenant.organizationId);
    await copy.client.payments.advance(id, { to: 'captured' });
    expect(await tenant.client.payments.retrieve(id)).toMatchObject({ status: 'pending' });
    const other = await startSandbank({ snapshot: await tenant.snapshot() });
    try {
      const again = await other.tenant();
      await expect(again.client.payments.retrieve(id)).rejects.toMatchObject({ code: 'resource_not_found' });
      const { data } = await other.operator.organizations.list();
      expect(data.map((one) => one.id)).toContain(tenant.organizationId);
    } finally {
      await other.close();
    }
  });
});

describe('the tenant clock', () => {
  test('advances by a sum of units, or to an instant', async () => {
    const tenant = await sandbank.tenant({ clock: 'frozen' });
    const before = await tenant.clock.now();
    await tenant.clock.advance({ days: 1, hours: 2, minutes: 3, seconds: 4 });
    expect(Number(await tenant.clock.now()) - Number(before)).toBe(93_784_000);
    await tenant.clock.advance({ to: new Date(Number(before) + 200_000_000) });
    expect(Number(await tenant.clock.now()) - Number(before)).toBe(200_000_000);
  });

  test('advances a running clock in a single request', async () => {
    const requests: string[] = [];
    const counting: typeof fetch = (url, init) => {
      requests.push(`${init?.method} ${new URL(String(url)).pathname} ${String(init?.body)}`);
      return fetch(url, init);
    };
    const tenant = await sandbank.tenant({ client: { fetch: counting } });
    requests.length = 0;
    await tenant.clock.advance({ seconds: 1 });
    expect(requests).toEqual(['POST /_api/developer_api_clock/advance {"seconds":1}']);
  });

  test.each([{}, { seconds: 0.5 }, { minutes: 1, seconds: -60 }])('does not advance by %j', async (span) => {
    const tenant = await sandbank.tenant();
    await expect(tenant.clock.advance(span)).rejects.toThrow('whole seconds, at least one');
  });

  test('reports the effects of an advance', async () => {
    const tenant = await sandbank.tenant({ clock: 'frozen' });
    const { id } = await tenant.client.payments.create({ ...euros, autoAdvance: true });
    const { happened, complete } = await tenant.clock.advance({ days: 5 });
    expect(complete).toBe(true);
    expect(happened.filter((one) => one.id === id).at(-1)).toMatchObject({ to: 'settled' });
  });
});

describe('waiting for an event', () => {
  test('finds a past event, and waits for a future one', async () => {
    const tenant = await sandbank.tenant();
    const { id } = await tenant.client.payments.create(euros);
    expect((await tenant.events.waitFor('payment.created')).data).toMatchObject({ id });
    const coming = tenant.events.waitFor('payment.captured', { where: ({ data }) => data.id === id });
    await tenant.client.payments.advance(id, { to: 'captured' });
    expect((await coming).data).toMatchObject({ id, status: 'captured' });
  });

  test('finds events after a given one', async () => {
    const tenant = await sandbank.tenant();
    await tenant.client.payments.create(euros);
    const first = await tenant.events.waitFor('payment.*');
    const next = tenant.events.waitFor('payment.created', { after: first.id });
    const { id } = await tenant.client.payments.create(euros);
    expect((await next).data).toMatchObject({ id });
  });

  test('fails with a list of the events that did occur', async () => {
    const tenant = await sandbank.tenant();
    await tenant.client.payments.create(euros);
    const waiting = tenant.events.waitFor('payment.settled', { timeoutMs: 300 });
    await expect(waiting).rejects.toThrow(TimeoutError);
    await expect(waiting).rejects.toThrow(
      /No event payment.settled within 300 ms. Events so far: payment.created/,
    );
  });
});

describe('an event type that does not exist', () => {
  const message = '"payment.setled" is not a value of eventTypes. Did you mean payment.settled?';
  const setled = 'payment.setled' as 'payment.settled';

  test('is rejected without waiting', async () => {
    const tenant = await sandbank.tenant();
    await expect(tenant.events.waitFor(setled)).rejects.toThrow(new TypeError(message));
    await expect(tenant.webhooks.capture({ eventTypes: [setled] })).rejects.toThrow(new TypeError(message));
    const webhooks = await tenant.webhooks.capture();
    await expect(webhooks.waitFor(setled)).rejects.toThrow(new TypeError(message));
    const [first] = [tenant.client.events.stream({ eventTypes: [setled] }).next()];
    await expect(first).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('await using', () => {
  test('closes tenant receivers', async () => {
    let url = '';
    {
      await using tenant = await sandbank.tenant();
      ({ url } = await tenant.webhooks.capture());
    }
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('closes a receiver, and a server that the test started', async () => {
    let urls: string[] = [];
    {
      await using server = await startSandbank();
      const tenant = await server.tenant();
      await using webhooks = await tenant.webhooks.capture();
      urls = [server.url, webhooks.url];
      expect((await fetch(server.url)).status).toBeLessThan(500);
    }
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

describe('captured webhooks', () => {
  test('are verified, in order, and have their attempts', async () => {
    const tenant = await sandbank.tenant({ clock: 'frozen' });
    const webhooks = await tenant.webhooks.capture({
      eventTypes: ['payment.*'],
      retryProfile: 'fast',
      reply: 500,
    });
    const { id } = await tenant.client.payments.create(euros);
    expect(await webhooks.waitFor('payment.created')).toMatchObject({ attempt: 1, event: { data: { id } } });
    webhooks.replyWith(204);
    await tenant.clock.advance({ minutes: 2 });
    expect(webhooks.all.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(webhooks.refused).toEqual([]);
    const { data } = await tenant.client.deliveries.list();
    expect(data[0]).toMatchObject({ status: 'succeeded' });
  });

  test('with a forged signature are rejected and recorded', async () => {
    const tenant = await sandbank.tenant();
    const webhooks = await tenant.webhooks.capture();
    const answer = await fetch(webhooks.url, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(400);
    expect(webhooks.refused[0]?.reason).toMatch(/webhook-id is missing/);
    await expect(webhooks.waitFor('*', { timeoutMs: 100 })).rejects.toThrow(
      /Received: none. Refused: The header/,
    );
  });

  test('can be answered by the test', async () => {
    const tenant = await sandbank.tenant();
    const webhooks = await tenant.webhooks.capture();
    webhooks.replyWith(({ event }, response) => {
      response.writeHead(event.type === 'payment.created' ? 202 : 500).end('seen');
    });
    await tenant.client.payments.create(euros);
    await webhooks.waitFor('payment.created');
    await tenant.clock.advance({ seconds: 1 });
    const { data } = await tenant.client.deliveries.list();
    expect(data[0]).toMatchObject({ status: 'succeeded', lastResponseStatus: 202 });
  });
});

describe('the tenant ledger', () => {
  test('balances after every kind of transition', async () => {
    const tenant = await sandbank.tenant({ clock: 'frozen' });
    const { id } = await tenant.client.payments.create({ ...euros, scenario: 'dispute' });
    await tenant.client.payments.advance(id, { to: 'settled' });
    await tenant.client.payments.refund(id, { amount: 250 });
    await tenant.clock.advance({ days: 40 });
    await tenant.ledger.assertBalanced();
  });

  test('assertion fails with the accounts that do not balance', async () => {
    const tenant = await sandbank.tenant();
    const { id } = await tenant.client.payments.create(euros);
    await tenant.client.payments.advance(id, { to: 'captured' });
    const { ledger } = tenant.client;
    const balances = await ledger.balances();
    const crooked = balances.accounts.map((one, i) => (i === 0 ? { ...one, balance: 1 } : one));
    Object.assign(ledger, { balances: async () => ({ ...balances, accounts: crooked }) });
    await expect(tenant.ledger.assertBalanced()).rejects.toThrow(LedgerImbalance);
  });
});

describe('a server', () => {
  test('can be used by another process with its address and token', async () => {
    const { url, operatorToken } = sandbank;
    const tenant = await connectSandbank({ url, operatorToken }).tenant();
    expect(await tenant.client.status()).toMatchObject({ sandbox: true });
    expect(() => connectSandbank({ url })).toThrow(/operatorToken/);
  });

  test('reports the coverage of its tenants', async () => {
    const { summary, sections } = await sandbank.coverage();
    expect(summary.met).toBeGreaterThan(10);
    expect(sections.map(({ kind }) => kind)).toEqual(['state', 'move', 'event', 'operation', 'error']);
    expect(await sandbank.junit()).toMatch(/^<\?xml.*<testsuites/s);
  });
});
