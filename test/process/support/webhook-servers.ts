/** Webhook endpoints that a seed file declares, and servers that deliver to them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import type { Query } from '../../support/audit.ts';
import { type ServerOptions, type ServerProcess, startServer } from '../../support/processes.ts';
import { API_KEY, call, SPARE_KEY, THIRD_KEY, whileUnavailable } from './client.ts';
import type { Inbox } from './webhook-receiver.ts';

export const DELIVERIES = '/_api/developer_api_webhook_deliveries';
export const CLOCK = '/_api/developer_api_clock';
/** For hangs only. A killed process leaves leases of 25 s behind. */
const ALL_SENT_MS_MAX = 240_000;

const SCOPES = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((of) => [
  `${of}:read`,
  `${of}:write`,
]);

/** An endpoint as the seed file declares it. Its name is the path at the receiver. */
export interface Endpoint {
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly retryProfile: 'standard' | 'fast' | 'none';
  readonly maxConcurrency: number;
  readonly secret: string;
  /** Organization and application whose events it receives, by name, where there is more than one. */
  readonly application?: string;
}

export function endpoint(name: string, more: Partial<Endpoint> = {}): Endpoint {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { name, eventTypes: ['*'], retryProfile: 'fast', maxConcurrency: 64, secret, ...more };
}

/** A folder for data and the seed file, and the servers that use it. */
export interface Deployment {
  readonly path: string;
  start(options: ServerOptions, ...args: string[]): Promise<ServerProcess>;
  /** Every server that was started, in order. */
  readonly servers: readonly ServerProcess[];
  /** Kills the servers that still run and deletes the folder. */
  remove(): Promise<void>;
}

/** The endpoints belong to one application; those of a second and a third organization have SPARE_KEY and THIRD_KEY. */
export function openDeployment(
  inbox: Pick<Inbox, 'urlOf'>,
  endpoints: readonly Endpoint[],
  neighbours: readonly Endpoint[] = [],
  third: readonly Endpoint[] = [],
): Deployment {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-deliveries-'));
  const seed = path.join(folder, 'seed.json');
  const organization = (name: string, key: string, own: readonly Endpoint[]) => {
    const webhooks = own.map(({ name: path, application: _own, ...declared }) => ({
      url: inbox.urlOf(path),
      ...declared,
    }));
    return {
      name,
      applications: [{ name: 'web', apiKeys: [{ name: 'ci', key, scopes: SCOPES }], webhooks }],
    };
  };
  const organizations = [
    organization('Acme', API_KEY, endpoints),
    organization('Globex', SPARE_KEY, neighbours),
    organization('Initech', THIRD_KEY, third),
  ];
  writeFileSync(seed, JSON.stringify({ organizations }));
  const started: ServerProcess[] = [];
  return {
    path: folder,
    servers: started,
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

/** Waits until the API lists no pending delivery; returns how long that took. */
export async function allSent(url: string, msMax = ALL_SENT_MS_MAX, key = API_KEY): Promise<number> {
  const since = performance.now();
  await vi.waitUntil(async () => (await pending(url, key)).length === 0, { timeout: msMax, interval: 100 });
  return Math.round(performance.now() - since);
}

async function pending(url: string, key: string): Promise<readonly unknown[]> {
  const path = `${url}${DELIVERIES}?status=pending&limit=1`;
  const { status, body } = await whileUnavailable(() => call(path, { key }));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data as readonly unknown[];
}

/** Ends the leases that killed senders left behind, as half a minute would. */
export async function expireLeases(query: Query): Promise<void> {
  await query(
    `update deliveries set lease_until = lease_until - interval '1 minute' where lease_until is not null`,
  );
  await query(
    `update webhook_health set sender_until = sender_until - interval '1 minute' where sender is not null`,
  );
}
