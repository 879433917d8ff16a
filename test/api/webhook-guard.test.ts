// URLs that a publicly reachable server refuses to send to, from the API request to the socket.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer, queryRows } from '../support/server.ts';

const webhooks = 'developer_api_webhooks';
const deliveries = 'developer_api_webhook_deliveries';
/** A literal public address, so that no DNS query is needed; nothing is ever sent there. */
const publicUrl = 'https://1.1.1.1/hook';

interface Delivery extends Body {
  readonly attemptCount: number;
  readonly lastError: string | null;
  readonly lastResponseStatus: number | null;
  readonly attempts: readonly {
    readonly responseStatus: number | null;
    readonly responseHeaders: unknown;
    readonly responseBody: string | null;
    readonly error: string | null;
  }[];
}

const refused = {
  'http://127.0.0.1/hook': /^127\.0\.0\.1 is not a public address/,
  'http://127.0.0.1:4000/_api/developer_api_payments': /^127\.0\.0\.1 is not a public address/,
  'http://2130706433/': /^127\.0\.0\.1 is not a public address/,
  'http://0x7f.1/': /^127\.0\.0\.1 is not a public address/,
  'http://１２７.０.０.１/': /^127\.0\.0\.1 is not a public address/,
  'http://0/': /^0\.0\.0\.0 is not a public address/,
  'http://169.254.169.254/latest/meta-data/': /^169\.254\.169\.254 is not a public address/,
  'http://[::1]:3000/': /^::1 is not a public address/,
  'http://[::ffff:10.0.0.1]/': /^::ffff:a00:1 is not a public address/,
  'http://[fd00:ec2::254]/': /^fd00:ec2::254 is not a public address/,
  'http://192.168.1.1/': /^192\.168\.1\.1 is not a public address/,
  'http://168.63.129.16/machine?comp=goalstate': /^168\.63\.129\.16 is not a public address/,
  'http://localhost:3000/hook': /^localhost does not resolve to a public address/,
  'ftp://1.1.1.1/': /Use http or https/,
  'file:///etc/passwd': /Use http or https/,
  'https://user:pass@1.1.1.1/': /^The URL contains credentials/,
  'example.com/hook': /^The URL is not valid/,
} as const;

describe.each(databaseKinds)('webhooks without access to private addresses on %s', (kind) => {
  let server: Server;
  let shop: Merchant;
  let receiver: Receiver;

  beforeAll(async () => {
    server = await openServer(kind, { allowsPrivateWebhooks: false });
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    shop = await openMerchant(server);
    receiver = await openReceiver();
    onTestFinished(() => receiver.close());
  });

  const create = (url: string) =>
    shop.client.post(webhooks, { url, eventTypes: ['payment.*'], retryProfile: 'fast' });
  const stored = () =>
    queryRows(server, 'select id, url, version, status from webhooks where org_id = $1', [shop.orgId]);
  const eventAndDeliveryIds = () =>
    queryRows(
      server,
      'select id from events where org_id = $1 union all select id from deliveries where org_id = $1',
      [shop.orgId],
    );

  /** An endpoint whose URL was written to the database directly, not through the API. */
  async function insertWebhook(url: string): Promise<Body> {
    const webhook = expectOk(await create(publicUrl));
    const sql = 'update webhooks set url = $3 where org_id = $1 and id = $2';
    await queryRows(server, sql, [shop.orgId, webhook.id, url]);
    return webhook;
  }

  /** The endpoint's only delivery, once it has had this many attempts. */
  async function deliveryAfter(webhook: Body, attempts = 1): Promise<Delivery> {
    const find = async () => {
      const [found] = expectOk(await shop.client.get(deliveries, `webhookId=${webhook.id}`))
        .data as Delivery[];
      return found;
    };
    await expect.poll(async () => (await find())?.attemptCount ?? 0).toBeGreaterThanOrEqual(attempts);
    return expectOk(await shop.client.get(`${deliveries}/${(await find())?.id}`)) as Delivery;
  }

  const unsent = { responseStatus: null, responseHeaders: null, responseBody: null };

  describe('201', () => {
    test('accepts a public address, and a name that does not resolve yet', async () => {
      expect(expectOk(await create(publicUrl))).toMatchObject({ url: publicUrl, status: 'enabled' });
      expect(expectOk(await create('https://hooks.invalid/a'))).toMatchObject({
        url: 'https://hooks.invalid/a',
      });
    });
  });

  describe('422', () => {
    test.each(Object.entries(refused))('rejects creating an endpoint with %s', async (url, message) => {
      const answer = await create(url);
      expect([answer.status, answer.code]).toEqual([422, 'webhook_url_not_allowed']);
      expect(answer.body.error.param).toBe('/url');
      expect(answer.body.error.message).toMatch(message);
      expect(answer.text).not.toContain('user:pass');
      expect(await stored()).toEqual([]);
      expect(await eventAndDeliveryIds()).toEqual([]);
    });

    test.each(Object.entries(refused))('rejects changing an endpoint to %s', async (url, message) => {
      const webhook = expectOk(await create(publicUrl));
      const before = await stored();
      const answer = await shop.client.post(`${webhooks}/${webhook.id}/update`, {
        url,
        description: 'moved',
      });
      expect([answer.status, answer.code]).toEqual([422, 'webhook_url_not_allowed']);
      expect(answer.body.error.param).toBe('/url');
      expect(answer.body.error.message).toMatch(message);
      expect(await stored()).toEqual(before);
      expect(expectOk(await shop.client.get(`${webhooks}/${webhook.id}`))).toMatchObject({
        url: publicUrl,
        description: null,
        version: 1,
      });
    });

    test('reports body errors before checking the URL', async () => {
      const long = await create(`http://127.0.0.1/${'a'.repeat(2_000)}`);
      expect([long.code, long.body.error.param]).toEqual(['invalid_request', '/url']);
      expect((await create('')).code).toBe('invalid_request');
      expect(await stored()).toEqual([]);
    });
  });

  describe('404', () => {
    test('an unknown endpoint is not found, whatever the new URL', async () => {
      const id = 'whk_01m7epxwjmf7za77rhky2f93cc';
      const answer = await shop.client.post(`${webhooks}/${id}/update`, { url: 'http://127.0.0.1/' });
      expect(answer.code).toBe('resource_not_found');
    });
  });

  describe('a private URL that is in the database nevertheless', () => {
    const hosts = ['127.0.0.1', 'localhost', '0x7f.1', '[::ffff:127.0.0.1]'];

    test.each(hosts)('of %s is not connected to, and the delivery history gives the reason', async (host) => {
      const webhook = await insertWebhook(`http://${host}:${receiver.port}/hook`);
      await shop.payments.create();
      const { attempts, lastError, lastResponseStatus, status } = await deliveryAfter(webhook);
      expect(attempts[0]).toMatchObject(unsent);
      expect(attempts[0]?.error).toMatch(
        /(is not|does not resolve to) a public address, and this server sends only to those\.$/,
      );
      expect([lastError, lastResponseStatus, status]).toEqual([attempts[0]?.error, null, 'pending']);
      expect(receiver.received).toEqual([]);
    });

    test('is not connected to by a second attempt or a replay', async () => {
      const webhook = await insertWebhook(receiver.url);
      await shop.payments.create();
      const { attempts, eventId } = await deliveryAfter(webhook, 2);
      for (const { error } of attempts) expect(error).toMatch(/^127\.0\.0\.1 is not a public address/);
      const replayed = await shop.client.post(`developer_api_webhook_events/${eventId}/replay`, {});
      expectOk(replayed);
      await expect
        .poll(async () => {
          const all = expectOk(await shop.client.get(deliveries, `webhookId=${webhook.id}`))
            .data as Delivery[];
          return all.filter(({ attemptCount }) => attemptCount > 0).length;
        })
        .toBe(2);
      expect(receiver.received).toEqual([]);
    });

    test.each(hosts)(
      'of %s is not connected to by an endpoint test, and the response gives the reason',
      async (host) => {
        const webhook = await insertWebhook(`http://${host}:${receiver.port}/hook`);
        const answer = expectOk(await shop.client.post(`${webhooks}/${webhook.id}/test`)) as Delivery;
        expect(answer).toMatchObject({
          object: 'delivery',
          status: 'failed',
          attemptCount: 1,
          lastResponseStatus: null,
        });
        expect(answer.attempts).toHaveLength(1);
        expect(answer.attempts[0]).toMatchObject(unsent);
        expect(answer.lastError).toMatch(
          /(is not|does not resolve to) a public address, and this server sends only to those\.$/,
        );
        expect(receiver.received).toEqual([]);
      },
    );

    test('with another scheme or with credentials is not sent to', async () => {
      const other = {
        'file:///etc/passwd': /Use http or https/,
        'http://a:b@1.1.1.1/': /contains credentials/,
      };
      for (const [url, message] of Object.entries(other)) {
        const webhook = await insertWebhook(url);
        const answer = expectOk(await shop.client.post(`${webhooks}/${webhook.id}/test`)) as Delivery;
        expect(answer.attempts[0]).toMatchObject({ ...unsent, error: expect.stringMatching(message) });
      }
    });

    test('does not prevent correcting the endpoint', async () => {
      const webhook = await insertWebhook(receiver.url);
      const corrected = await shop.client.post(`${webhooks}/${webhook.id}/update`, { url: publicUrl });
      expect(expectOk(corrected)).toMatchObject({ url: publicUrl });
    });
  });

  test('a server that allows private addresses sends to the same endpoint', async () => {
    const open = await openServer(kind);
    onTestFinished(() => open.close());
    const { client, payments } = await openMerchant(open);
    expectOk(await client.post(webhooks, { url: receiver.url, eventTypes: ['payment.created'] }));
    await payments.create();
    expect(await receiver.waitFor(1)).toHaveLength(1);
  });
});
