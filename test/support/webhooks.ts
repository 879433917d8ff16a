/** Webhooks in tests: their paths and calls, receivers that close with their test, and signatures. */
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished } from 'vitest';
import { type ApiClient, type Body, expectOk } from './api-client.ts';
import { type AdvanceBody, clockApi } from './clock.ts';
import { openReceiver, type Received, type Receiver, type Reply } from './receiver.ts';
import { signaturesOf } from './verify-signature.ts';

export const webhooks = 'developer_api_webhooks';
export const events = 'developer_api_webhook_events';
export const deliveries = 'developer_api_webhook_deliveries';
export const replays = 'developer_api_webhook_replays';

export const unknownWebhook = 'whk_01m7epxwjmf7za77rhky2f93cc';
export const unknownEvent = 'evt_01m7epxwjmf7za77rhky2f93cc';

export interface WebhookBody extends Body {
  readonly secret: string;
  readonly url: string;
  readonly disabledReason: string | null;
  readonly health: { readonly failingSince: string | null; readonly pendingDeliveries: number };
}

export interface Attempt {
  readonly number: number;
  readonly at: string;
  readonly sentAt: string;
  readonly status: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly error: string | null;
}

export interface DeliveryBody extends Body {
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  readonly held: boolean;
  readonly lastError: string | null;
  readonly requestBody: string;
  readonly attempts: readonly Attempt[];
}

/** The body of a webhook request. */
export interface EventPayload {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly requestId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** All of these fail unless the response is a success. */
export interface WebhookApi {
  createWebhook(receiver: Pick<Receiver, 'url'>, settings?: object): Promise<WebhookBody>;
  readWebhook(id: string): Promise<WebhookBody>;
  /** For example `disable` or `rotate_secret`. */
  webhookAction(id: string, action: string, body?: object): Promise<WebhookBody>;
  /** Creates an event that belongs to no change of a record. */
  emitEvent(type?: string, data?: object): Promise<Body>;
  /** Resolves when every delivery that is due by the frozen clock was attempted and recorded. */
  sendDue(): Promise<AdvanceBody>;
  deliveries(query?: string): Promise<readonly DeliveryBody[]>;
  delivery(id: string): Promise<DeliveryBody>;
  /** Expects the query to find exactly one delivery. */
  onlyDelivery(query: string): Promise<DeliveryBody>;
}

export function webhookApi(client: ApiClient): WebhookApi {
  const clock = clockApi(client);
  const self: WebhookApi = {
    createWebhook: async ({ url }, body = {}) =>
      expectOk(await client.post(webhooks, { url, ...body })) as WebhookBody,
    readWebhook: async (id) => expectOk(await client.get(`${webhooks}/${id}`)) as WebhookBody,
    webhookAction: async (id, action, body) =>
      expectOk(await client.post(`${webhooks}/${id}/${action}`, body)) as WebhookBody,
    emitEvent: async (type = 'customer.created', data = {}) =>
      expectOk(await client.post(events, { type, data })),
    sendDue: async () => clock.advance({ to: (await clock.read()).now }),
    deliveries: async (query = 'limit=100') =>
      expectOk(await client.get(deliveries, query)).data as readonly DeliveryBody[],
    delivery: async (id) => expectOk(await client.get(`${deliveries}/${id}`)) as DeliveryBody,
    onlyDelivery: async (query) => {
      const found = await self.deliveries(query);
      expect(found).toHaveLength(1);
      return self.delivery(found[0]?.id ?? '');
    },
  };
  return self;
}

/** A receiver that closes when its test ends. */
export async function testReceiver(reply?: Reply): Promise<Receiver> {
  const receiver = await openReceiver(reply);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** A receiver that is already closed: connections to it are refused. */
export async function closedReceiver(): Promise<Receiver> {
  const receiver = await openReceiver();
  await receiver.close();
  return receiver;
}

export function eventPayload({ body }: Pick<Received, 'body'>): EventPayload {
  return JSON.parse(body) as EventPayload;
}

export function eventPayloads({ received }: Receiver): readonly EventPayload[] {
  return received.map(eventPayload);
}

export function receivedTypes(receiver: Receiver): readonly string[] {
  return eventPayloads(receiver).map(({ type }) => type);
}

/** Exactly these secrets have signed the request, in this order, according to two independent verifiers. */
export function expectSigned(
  received: Received,
  secrets: readonly string[],
  otherSecrets: readonly string[],
) {
  const headers = received.headers as Record<string, string>;
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
  secrets.forEach((secret, index) => {
    expect(signaturesOf(received, secret)).toEqual([index]);
    expect(new Webhook(secret).verify(received.body, headers)).toEqual(JSON.parse(received.body));
  });
  for (const secret of otherSecrets) {
    expect(signaturesOf(received, secret)).toEqual([]);
    expect(() => new Webhook(secret).verify(received.body, headers)).toThrow('No matching signature');
  }
}

const readMsMax = 240_000;

/** Reads again until the value is accepted: for changes that background workers make. */
export async function readUntil<T>(read: () => Promise<T>, isAccepted: (value: T) => boolean): Promise<T> {
  const until = performance.now() + readMsMax;
  for (;;) {
    const value = await read();
    if (isAccepted(value)) return value;
    if (performance.now() > until) throw new Error(`not within ${readMsMax} ms: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
