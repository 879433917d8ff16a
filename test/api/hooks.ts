/** The calls of webhooks in the words of their tests, and receivers that are closed when their test ends. */
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished } from 'vitest';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { openReceiver, type Received, type Receiver, type Reply } from '../support/receiver.ts';
import type { KeySettings } from '../support/tenant.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import { type Advanced, openShop, type Shop } from './clockwork.ts';
import { done } from './lifecycle.ts';

export const webhooks = 'developer_api_webhooks';
export const events = 'developer_api_webhook_events';
export const deliveries = 'developer_api_webhook_deliveries';
export const replays = 'developer_api_webhook_replays';
export const customers = 'developer_api_customers';

export const unknownWebhook = 'whk_01m7epxwjmf7za77rhky2f93cc';
export const unknownEvent = 'evt_01m7epxwjmf7za77rhky2f93cc';

export interface Hook extends Body {
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

export interface Delivery extends Body {
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

/** What a receiver reads of an event. */
export interface Payload {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly requestId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An organization of one test with its calls. Its clock stands unless told, so that every instant in it is known. */
export interface HookShop extends Shop {
  /** An endpoint that insists on being made. */
  hook(receiver: Pick<Receiver, 'url'>, settings?: object): Promise<Hook>;
  readHook(id: string): Promise<Hook>;
  act(id: string, action: string, body?: object): Promise<Hook>;
  /** An event by hand. */
  tell(type?: string, data?: object): Promise<Body>;
  /** Answers when all that is due by the clock, which stands, was sent and written down. */
  sent(): Promise<Advanced>;
  deliveries(query?: string): Promise<readonly Delivery[]>;
  delivery(id: string): Promise<Delivery>;
  /** The one delivery that there is for the query. */
  only(query: string): Promise<Delivery>;
}

export async function openHookShop(
  server: Server,
  settings: KeySettings & { isRunning?: boolean } = {},
): Promise<HookShop> {
  const { isRunning = false, ...rest } = settings;
  const shop = await openShop(server, server.app, rest);
  if (!isRunning) await shop.time.freeze();
  const { client, time } = shop;
  const self: HookShop = {
    ...shop,
    hook: async ({ url }, body = {}) => done(await client.post(webhooks, { url, ...body })) as Hook,
    readHook: async (id) => done(await client.get(`${webhooks}/${id}`)) as Hook,
    act: async (id, action, body) => done(await client.post(`${webhooks}/${id}/${action}`, body)) as Hook,
    tell: async (type = 'customer.created', data = {}) => done(await client.post(events, { type, data })),
    sent: async () => time.advance({ to: (await time.read()).now }),
    deliveries: async (query = 'limit=100') =>
      done(await client.get(deliveries, query)).data as readonly Delivery[],
    delivery: async (id) => done(await client.get(`${deliveries}/${id}`)) as Delivery,
    only: async (query) => {
      const found = await self.deliveries(query);
      expect(found).toHaveLength(1);
      return self.delivery(found[0]?.id ?? '');
    },
  };
  return self;
}

/** A receiver of one test. */
export async function receiving(reply?: Reply): Promise<Receiver> {
  const receiver = await openReceiver(reply);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** An address at which nothing listens. */
export async function nobody(): Promise<Receiver> {
  const receiver = await openReceiver();
  await receiver.close();
  return receiver;
}

export function payloadOf({ body }: Pick<Received, 'body'>): Payload {
  return JSON.parse(body) as Payload;
}

export function payloadsOf({ received }: Receiver): readonly Payload[] {
  return received.map(payloadOf);
}

export function typesOf(receiver: Receiver): readonly string[] {
  return payloadsOf(receiver).map(({ type }) => type);
}

/** Both verifiers agree that the secrets, and they alone, have signed: in this order, each once. */
export function expectSigned(received: Received, secrets: readonly string[], strangers: readonly string[]) {
  const headers = received.headers as Record<string, string>;
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
  secrets.forEach((secret, place) => {
    expect(signaturesOf(received, secret)).toEqual([place]);
    expect(new Webhook(secret).verify(received.body, headers)).toEqual(JSON.parse(received.body));
  });
  for (const secret of strangers) {
    expect(signaturesOf(received, secret)).toEqual([]);
    expect(() => new Webhook(secret).verify(received.body, headers)).toThrow('No matching signature');
  }
}

/** Reads again until it is so: for what is done in the background, on nobody's request. */
export async function eventually<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const until = performance.now() + 15_000;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (performance.now() > until) throw new Error(`it never came to be: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The rows of an organization, of all tables, that hold a text as it is. */
export async function rowsHolding(server: Server, orgId: string, text: string): Promise<readonly string[]> {
  const tables = await server.database.query<{ name: string }>(
    {
      name: '',
      text: `select table_name::text as name from information_schema.columns
        where table_schema = 'public' and column_name = 'org_id' order by 1`,
    },
    [],
  );
  const parts = tables.map(
    ({ name }) => `select '${name}' as name from ${name} t where org_id = $1 and position($2 in t::text) > 0`,
  );
  const found = await server.database.query<{ name: string }>({ name: '', text: parts.join(' union all ') }, [
    orgId,
    text,
  ]);
  return found.map(({ name }) => name);
}

export function expectRefused(answer: Answer, code: string, param?: string): void {
  expect(answer.code, answer.text).toBe(code);
  expect(answer.body.error.param).toBe(param);
}
