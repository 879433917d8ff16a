import { writeFileSync } from 'node:fs';
import type { App } from '../process/chaos/servers.ts';
import { newKey } from '../support/tenant.ts';
import type { Receivers } from './receivers.ts';

const app = (organization: string, name: string): App => ({ organization, name, key: newKey() });

/** Organizations whose records are audited at the end. The clock of one of them is moved. */
export const acme: readonly App[] = [app('Acme', 'web'), app('Acme', 'shop')];
export const globex = app('Globex', 'web');
export const clocked = app('Clocks', 'web');
export const auditedApps: readonly App[] = [...acme, globex, clocked];
/** Is reset again and again, forked, and has fault plans. */
export const volatile = app('Volatile', 'web');
/** Only `archive.ts` writes to it. */
export const archived = app('Archive', 'web');

const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((of) => [
  `${of}:read`,
  `${of}:write`,
]);
const eventTypes = ['payment.*', 'refund.*', 'dispute.*', 'transfer.*'];
const maxConcurrency = 64;

/** The receiver of each application, and how its endpoint retries. */
const endpoints = [
  { app: acme[0], receiver: 'fast', retryProfile: 'fast' },
  { app: acme[1], receiver: 'flaky', retryProfile: 'standard' },
  { app: globex, receiver: 'slow', retryProfile: 'standard' },
  { app: clocked, receiver: 'failing', retryProfile: 'none' },
  { app: volatile, receiver: 'silent', retryProfile: 'fast' },
];

export function receiverOf(app: App): string | undefined {
  return endpoints.find((one) => one.app === app)?.receiver;
}

export function writeSeed(file: string, receivers: Receivers): void {
  const apps = [...auditedApps, volatile, archived];
  const organizations = [...new Set(apps.map(({ organization }) => organization))].map((name) => ({
    name,
    applications: apps
      .filter(({ organization }) => organization === name)
      .map((one) => ({
        name: one.name,
        apiKeys: [{ name: 'key', key: one.key, scopes, ...(one === volatile ? { mayReset: true } : {}) }],
        webhooks: endpoints
          .filter(({ app: owner }) => owner === one)
          .map(({ receiver, retryProfile }) => ({
            ...{ url: receivers.urlOf(receiver), secret: receivers.secrets.get(receiver) },
            ...{ eventTypes, retryProfile, maxConcurrency },
          })),
      })),
  }));
  writeFileSync(file, JSON.stringify({ organizations }));
}
