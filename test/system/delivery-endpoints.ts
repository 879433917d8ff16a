/** What the tests of deliveries share: endpoints that are declared by a seed file, and servers that send to them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { effort } from '../support/effort.ts';
import { type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';
import { type Answer, API_KEY, call, SPARE_KEY } from './client.ts';
import type { Inbox } from './delivery-inbox.ts';
import type { Query } from './records.ts';

export const DELIVERIES = '/_api/developer_api_webhook_deliveries';
export const CLOCK = '/_api/developer_api_clock';
/** How often servers are killed. More is for nights. */
export const ROUNDS = Number(process.env.SANDBANK_DELIVERY_ROUNDS ?? effort(3, 10));

const SCOPES = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((of) => [
  `${of}:read`,
  `${of}:write`,
]);

/** An endpoint as it is declared. Its name is the path at the receiver. */
export interface Endpoint {
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly retryProfile: 'standard' | 'fast' | 'none';
  readonly maxConcurrency: number;
  readonly secret: string;
  /** Organization and application whose events it gets, by name, where there is more than one. */
  readonly application?: string;
}

export function endpoint(name: string, more: Partial<Endpoint> = {}): Endpoint {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { name, eventTypes: ['*'], retryProfile: 'fast', maxConcurrency: 64, secret, ...more };
}

/** A folder for data and the seed, and every server that was started from it. */
export interface Home {
  readonly path: string;
  start(options: ServerOptions, ...args: string[]): Promise<ServerProcess>;
  /** Ends whatever still runs. */
  remove(): Promise<void>;
}

/** The endpoints belong to one application; the neighbours to one of another organization, whose key is the spare one. */
export function openHome(
  inbox: Pick<Inbox, 'urlOf'>,
  endpoints: readonly Endpoint[],
  neighbours: readonly Endpoint[] = [],
): Home {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-deliveries-'));
  const seed = path.join(folder, 'seed.json');
  const organization = (name: string, key: string, own: readonly Endpoint[]) => {
    const webhooks = own.map(({ name: path, ...declared }) => ({ url: inbox.urlOf(path), ...declared }));
    return {
      name,
      applications: [{ name: 'web', apiKeys: [{ name: 'ci', key, scopes: SCOPES }], webhooks }],
    };
  };
  const organizations = [
    organization('Acme', API_KEY, endpoints),
    organization('Globex', SPARE_KEY, neighbours),
  ];
  writeFileSync(seed, JSON.stringify({ organizations }));
  const started: ServerProcess[] = [];
  return {
    path: folder,
    start: async (options, ...args) => {
      const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on', ...options.env };
      const server = await startServer({ ...options, seed, env, args });
      started.push(server);
      return server;
    },
    remove: async () => {
      await Promise.all(started.map((server) => server.kill()));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Waits until the API says that nothing is left to send; gives how long that took. */
export async function allSent(url: string, msMax: number): Promise<number> {
  const since = performance.now();
  await vi.waitUntil(async () => (await pending(url)).length === 0, { timeout: msMax, interval: 100 });
  return Math.round(performance.now() - since);
}

async function pending(url: string): Promise<readonly unknown[]> {
  const { status, body } = await call(`${url}${DELIVERIES}?status=pending&limit=1`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data as readonly unknown[];
}

export function post(url: string, body: object, idempotencyKey: string, key = API_KEY): Promise<Answer> {
  return call(url, { method: 'POST', body, idempotencyKey, key });
}

/** A write that must succeed. */
export async function done(
  url: string,
  body: object,
  idempotencyKey: string,
  key = API_KEY,
): Promise<Answer['body']> {
  const answer = await post(url, body, idempotencyKey, key);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
}

/** What half a minute would do after all senders were killed: their claims on deliveries and endpoints have ended. */
export async function expireLeases(query: Query): Promise<void> {
  await query(
    `update deliveries set lease_until = lease_until - interval '1 minute' where lease_until is not null`,
  );
  await query(
    `update webhook_health set sender_until = sender_until - interval '1 minute' where sender is not null`,
  );
}
