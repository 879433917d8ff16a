import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { caseNames, Examination, type ExaminationReport } from '../../src/examiner/schema.ts';
import type { Server } from '../../src/server.ts';
import {
  ApiClient,
  type Body,
  expectOk,
  expectRefused,
  expectReplay,
  seenCodes,
} from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, openApp, openServer, queryRows, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  closedReceiver,
  testReceiver,
  unknownWebhook,
  type WebhookBody,
  webhooks,
} from '../support/webhooks.ts';
import { type Event, type Examinee, type Fault, openExaminee, verified } from './receivers.ts';

type Report = Body & ExaminationReport;

describe.each(databaseKinds)('examining a receiver on %s', (kind) => {
  let server: Server;
  let other: Tenant;
  let shop: Merchant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    other = await tenant(server);
  });
  beforeEach(async () => {
    shop = await openMerchant(server, { isFrozen: true });
  });

  const examine = (id: string, body?: unknown, idempotencyKey: string = randomUUID()) =>
    shop.client.post(`${webhooks}/${id}/examine`, body, { idempotencyKey });
  const examined = async (id: string, body?: unknown) =>
    expectOk(await examine(id, body)) as unknown as Report;

  /** A receiver that by default verifies with the secret of its endpoint. */
  async function openEndpoint(
    fault: Fault = {},
    settings: object = {},
  ): Promise<Examinee & { hook: WebhookBody }> {
    let hook: WebhookBody | undefined;
    const receiver = await openExaminee({ verify: (handled) => verified(handled, hook?.secret), ...fault });
    hook = await shop.createWebhook(receiver, settings);
    return { ...receiver, hook };
  }

  const eventsOf = ({ handled }: Examinee) =>
    handled
      .filter(({ request }) => request.method === 'POST')
      .map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')) as Event);
  const failed = ({ cases }: ExaminationReport) =>
    cases.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
  const storedRows = () =>
    queryRows(
      server,
      'select id from events where org_id = $1 union all select id from deliveries where org_id = $1',
      [shop.orgId],
    );

  describe('200', () => {
    test('a correct receiver gets an A, and the report matches the documented schema', async () => {
      const receiver = await openEndpoint();
      const answer = await examine(receiver.hook.id);
      expect(answer.status).toBe(200);
      const report = answer.body as unknown as Report;
      expect(report).toMatchObject({
        object: 'examination',
        sandbox: true,
        requestId: answer.headers['request-id'],
        status: 'passed',
        webhookId: receiver.hook.id,
        url: receiver.url,
        eventType: 'payment.created',
        grade: 'A',
        score: 100,
        complete: true,
        message: null,
      });
      expect(report.cases.map(({ name, outcome }) => [name, outcome])).toEqual(
        caseNames.map((name) => [name, 'passed']),
      );
      const check = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(Examination);
      check(report);
      expect(check.errors).toBeNull();
      for (const { headers } of receiver.handled) {
        expect(headers['sandbank-examination']).toBe(report.id);
        expect(headers['user-agent']).toMatch(/^Sandbank\//);
      }
      for (const event of eventsOf(receiver)) expect(event.sandbox).toBe(true);
    });

    test('leaves no events or deliveries and an unchanged webhook; the audit trail names the caller', async () => {
      const receiver = await openEndpoint();
      const before = await shop.readWebhook(receiver.hook.id);
      const answer = await examine(receiver.hook.id);
      expect(receiver.handled.length).toBeGreaterThan(40);
      expect(await storedRows()).toEqual([]);
      const { requestId: _before, ...shown } = before;
      expect(await shop.readWebhook(receiver.hook.id)).toMatchObject(shown);
      const rows = await queryRows(
        server,
        'select action, outcome, actor_id as "actorId", resource_id as "resourceId" from audit where org_id = $1 and request_id = $2 order by id',
        [shop.orgId, answer.headers['request-id']],
      );
      const expected = { outcome: 'accepted', actorId: shop.keyId, resourceId: receiver.hook.id };
      expect(rows).toEqual([
        { action: 'webhooks.examine', ...expected },
        { action: 'webhooks.conclude_examination', ...expected },
      ]);
    });

    test('a receiver that verifies nothing gets an F', async () => {
      const receiver = await openEndpoint({ verify: ({ rawBody }) => JSON.parse(rawBody.toString('utf8')) });
      const report = await examined(receiver.hook.id);
      expect(report).toMatchObject({ status: 'failed', grade: 'F', complete: true });
      expect(failed(report)).toContain('missing_signature');
      expect(failed(report)).toContain('tampered_body');
    });

    test('the server sends the chunked body and the large body completely', async () => {
      const receiver = await openEndpoint({
        read: async (request) => {
          let body = '';
          for await (const chunk of request) body += chunk;
          return Buffer.from(body);
        },
      });
      const report = await examined(receiver.hook.id, {
        cases: ['split_body', 'large_payload', 'get_request'],
      });
      expect(failed(report)).toEqual(['split_body']);
      expect(receiver.handled.map(({ request }) => request.method)).toEqual(['POST', 'POST', 'POST', 'GET']);
    });

    test('only the selected cases run, with events of the selected type', async () => {
      const receiver = await openEndpoint();
      const report = await examined(receiver.hook.id, {
        cases: ['duplicate', 'stale_timestamp'],
        eventType: 'transfer.completed',
      });
      expect(report.cases.map(({ name }) => name)).toEqual([
        'valid_signature',
        'stale_timestamp',
        'duplicate',
      ]);
      expect(eventsOf(receiver).map(({ type }) => type)).toEqual(Array(4).fill('transfer.completed'));
      expect(eventsOf(receiver)[0]?.data).toMatchObject({ object: 'transfer', status: 'completed' });
    });

    test.each([
      [['*'], 'payment.created'],
      [['refund.*', 'payment.*'], 'payment.created'],
      [['transfer.completed'], 'transfer.completed'],
      [['dispute.*'], 'dispute.created'],
    ])('an endpoint subscribed to %s receives %s events by default', async (eventTypes, type) => {
      const receiver = await openEndpoint({}, { eventTypes });
      expect(await examined(receiver.hook.id, { cases: ['valid_signature'] })).toMatchObject({
        eventType: type,
      });
      expect(eventsOf(receiver)).toMatchObject([{ type }]);
    });

    test('a refused connection is the only finding, with one message', async () => {
      const gone = await closedReceiver();
      const { id } = await shop.createWebhook(gone);
      const report = await examined(id);
      const error = `Connection refused: nothing listens at 127.0.0.1:${gone.port}.`;
      expect(report).toMatchObject({ status: 'failed', grade: 'F', score: 0, complete: false });
      expect(report.message).toMatch(`No answer came. ${error} No other case ran`);
      expect(report.cases).toMatchObject([
        { name: 'valid_signature', outcome: 'failed', attempts: [{ responseStatus: null, error }] },
      ]);
    });

    test('410 does not disable the endpoint, because an examination is not a delivery', async () => {
      const { id } = await shop.createWebhook(await testReceiver(withStatus(410)));
      expect(await examined(id)).toMatchObject({ grade: 'F', message: expect.stringContaining('410') });
      expect(await shop.readWebhook(id)).toMatchObject({ status: 'enabled', version: 1 });
    });

    test('a disabled endpoint can be examined, and stays disabled', async () => {
      const receiver = await openEndpoint();
      await shop.webhookAction(receiver.hook.id, 'disable');
      expect(await examined(receiver.hook.id, { cases: ['duplicate'] })).toMatchObject({ grade: 'A' });
      expect(await shop.readWebhook(receiver.hook.id)).toMatchObject({ status: 'disabled' });
    });

    test('both secrets sign during their overlap, then only the new one', async () => {
      const receiver = await openEndpoint();
      const { id } = receiver.hook;
      await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 60 });
      expect(await examined(id, { cases: ['rotated_secret', 'other_secret'] })).toMatchObject({ grade: 'A' });
      const aMinuteAgo = shop.clientOn(openApp(server, { wallClock: () => Date.now() - 60_000 }));
      const { hook: late } = await openEndpoint();
      expectOk(await aMinuteAgo.post(`${webhooks}/${late.id}/rotate_secret`, { overlapSeconds: 59 }));
      expect(await examined(late.id)).toMatchObject({ grade: 'F', message: expect.stringContaining('401') });
    });

    test('an API key of another application in the organization cannot examine it', async () => {
      const receiver = await openEndpoint();
      const otherApplication = await shop.addKey({ application: 'second' });
      const answer = await otherApplication.client.post(`${webhooks}/${receiver.hook.id}/examine`, {
        cases: ['duplicate'],
      });
      expect(answer.code).toBe('resource_not_found');
    });

    test('the same idempotency key sends no requests and replays the response byte for byte', async () => {
      const receiver = await openEndpoint();
      const key = randomUUID();
      const first = await examine(receiver.hook.id, { cases: ['duplicate'] }, key);
      const sent = receiver.handled.length;
      expectReplay(await examine(receiver.hook.id, { cases: ['duplicate'] }, key), first);
      expect(receiver.handled).toHaveLength(sent);
      expect((await examine(receiver.hook.id, { cases: ['burst'] }, key)).code).toBe(
        'idempotency_key_reused',
      );
    });

    test('neither the report nor its stored copy contains the webhook secret', async () => {
      const receiver = await openEndpoint({
        refuse: (_error, { response }) => response.writeHead(401).end(`whsec: ${receiver.hook.secret}`),
      });
      const answer = await examine(receiver.hook.id);
      expect(answer.body).toMatchObject({ grade: 'F' });
      expect(answer.text).not.toContain(receiver.hook.secret.slice(6, -1));
      const stored = await queryRows(server, 'select body from idempotency where org_id = $1', [shop.orgId]);
      expect(JSON.stringify(stored)).not.toContain(receiver.hook.secret.slice(6, -1));
    });
  });

  describe('400', () => {
    test.each<[what: string, body: unknown, param: string]>([
      ['an unknown case', { cases: ['nonsense'] }, '/cases/0'],
      ['no case', { cases: [] }, '/cases'],
      ['a case twice', { cases: ['burst', 'burst'] }, '/cases'],
      ['cases that are not a list', { cases: 'burst' }, '/cases'],
      ['an unknown type', { eventType: 'payment.exploded' }, '/eventType'],
      ['an unknown field', { url: 'http://127.0.0.1/' }, '/url'],
    ])('%s is rejected, and nothing is sent', async (_what, body, param) => {
      const receiver = await openEndpoint();
      expectRefused(await examine(receiver.hook.id, body), 'invalid_request', param);
      expect(receiver.handled).toEqual([]);
    });

    test('an idempotency key is required', async () => {
      const { hook } = await openEndpoint();
      const bare = await shop.client.post(`${webhooks}/${hook.id}/examine`, {}, { idempotencyKey: null });
      expect(bare.code).toBe('idempotency_key_missing');
    });
  });

  describe('401, 403 and 404', () => {
    test('an unauthorized caller is rejected, and nothing is sent', async () => {
      const receiver = await openEndpoint();
      const path = `${webhooks}/${receiver.hook.id}/examine`;
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      expect((await new ApiClient(server.app, null).post(path)).code).toBe('api_key_missing');
      expect((await reader.client.post(path)).code).toBe('scope_missing');
      expect((await other.client.post(path)).code).toBe('resource_not_found');
      expect((await examine(unknownWebhook)).code).toBe('resource_not_found');
      expect((await examine('nonsense')).code).toBe('resource_not_found');
      expect(receiver.handled).toEqual([]);
    });
  });

  describe('409', () => {
    test('an endpoint has one examination at a time, other endpoints are unaffected, and the 409 is not stored', async () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let markStarted = (): void => undefined;
      const started = new Promise<void>((resolve) => {
        markStarted = resolve;
      });
      const receiver = await openEndpoint({
        handle: async () => {
          markStarted();
          await held;
          return false;
        },
      });
      const free = await openEndpoint();
      const [firstKey, secondKey] = [randomUUID(), randomUUID()];
      const cases = { cases: ['duplicate'] };
      const first = examine(receiver.hook.id, cases, firstKey);
      await started;
      const second = await examine(receiver.hook.id, cases, secondKey);
      expect([second.status, second.code]).toEqual([409, 'examination_running']);
      expect(second.body.error).toMatchObject({ retryable: true });
      expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      // A retry of the same request is answered with idempotency_in_progress.
      expect((await examine(receiver.hook.id, cases, firstKey)).code).toBe('idempotency_in_progress');
      expect(await examined(free.hook.id, cases)).toMatchObject({ grade: 'A' });
      release();
      expect((await first).body).toMatchObject({ grade: 'A' });
      expect((await examine(receiver.hook.id, cases, secondKey)).body).toMatchObject({ grade: 'A' });
    });

    test('an organization has at most four examinations at once, and another one after one of them ends', async () => {
      const release: (() => void)[] = [];
      const held = () => new Promise<boolean>((resolve) => release.push(() => resolve(false)));
      const hooks = await Promise.all(Array.from({ length: 5 }, () => openEndpoint({ handle: held })));
      const cases = { cases: ['duplicate'] };
      const [fifth, ...four] = hooks.map(({ hook }) => hook.id);
      const running = four.map((id) => examine(id, cases));
      await expect.poll(() => release.length).toBe(4);
      const refused = await examine(fifth ?? '', cases);
      expect([refused.status, refused.code]).toEqual([409, 'examination_running']);
      expect(refused.body.error.message).toContain('Too many');
      const settle = setInterval(() => {
        for (const one of release.splice(0)) one();
      }, 10);
      for (const answer of await Promise.all(running)) expect(answer.status, answer.text).toBe(200);
      expect((await examine(fifth ?? '', cases)).status).toBe(200);
      clearInterval(settle);
    });

    test('a rejected examination does not block the next one', async () => {
      expect((await examine(unknownWebhook)).code).toBe('resource_not_found');
      expect((await examine(unknownWebhook)).code).toBe('resource_not_found');
    });
  });

  test('stopping the server ends a running examination', async () => {
    const own = await openServer(kind);
    try {
      const ownShop = await openMerchant(own, { isFrozen: true });
      let markStarted = (): void => undefined;
      const started = new Promise<void>((resolve) => {
        markStarted = resolve;
      });
      const receiver = await openExaminee({
        before: () => {
          markStarted();
          return new Promise<boolean>(() => undefined);
        },
      });
      const { id } = await ownShop.createWebhook(receiver);
      const pending = ownShop.client.post(`${webhooks}/${id}/examine`);
      await started;
      const startedAt = performance.now();
      own.examinations.stop();
      const answer = await pending;
      expect(answer.body).toMatchObject({
        complete: false,
        status: 'failed',
        message: 'The examination was stopped before it finished.',
        cases: [],
      });
      expect(performance.now() - startedAt).toBeLessThan(30_000);
    } finally {
      await own.close();
    }
  });
});

describe.each(databaseKinds)('a server that does not send to private addresses on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer(kind, { allowsPrivateWebhooks: false });
  });
  afterAll(() => server?.close());

  test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
    'sends no examination request to %s',
    async (host) => {
      const shop = await openMerchant(server, { isFrozen: true });
      const receiver = await openExaminee();
      const hook = await shop.createWebhook({ url: 'https://1.1.1.1/hook' });
      // Directly in the database, because the API rejects this URL.
      await queryRows(server, 'update webhooks set url = $3 where org_id = $1 and id = $2', [
        shop.orgId,
        hook.id,
        `http://${host}:${receiver.port}/hook`,
      ]);
      const report = expectOk(await shop.client.post(`${webhooks}/${hook.id}/examine`)) as unknown as Report;
      expect(report).toMatchObject({ grade: 'F', complete: false });
      expect(report.message).toMatch(
        /(is not|does not resolve to) a public address, and this server sends only to those/,
      );
      expect(report.cases).toHaveLength(1);
      expect(receiver.handled).toEqual([]);
    },
  );
});

test('this file covers the error codes listed for it', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.examinations);
});
