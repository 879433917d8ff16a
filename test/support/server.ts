import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import type { Config } from '../../src/config.ts';
import type { Database } from '../../src/db/database.ts';
import { Engine, type EngineSettings } from '../../src/engine/engine.ts';
import { randomMint } from '../../src/engine/mint.ts';
import { Vault } from '../../src/engine/vault.ts';
import { type AppSettings, createApp } from '../../src/http/app.ts';
import { unmeasured } from '../../src/http/metrics.ts';
import { presentEntry } from '../../src/kernel/ledger-entry.ts';
import { providers } from '../../src/provider/index.ts';
import { beginAdvance } from '../../src/resources/clocks/machine.ts';
import { beginExamination } from '../../src/resources/examinations/machine.ts';
import { resources, routes } from '../../src/resources/index.ts';
import { resetOrganization } from '../../src/resources/resets/machine.ts';
import { consoleOf, createServer, type Server } from '../../src/server.ts';
import { ClockRunner } from '../../src/workers/clock-runner.ts';
import { consoleErrands } from '../../src/workers/console-errands.ts';
import { resetErrand } from '../../src/workers/reset-errand.ts';
import { webhookErrands } from '../../src/workers/webhook-errands.ts';
import { createDatabase } from './postgres.ts';

/** Every API test runs on both: `describe.each(databaseKinds)`. */
export const databaseKinds = ['pglite', 'postgres'] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** The server as it is put together for users: embedded in memory, or on a fresh database of the run's PostgreSQL. */
export async function openServer(kind: DatabaseKind, overrides: Partial<Config> = {}): Promise<Server> {
  return createServer({
    port: 0,
    host: '127.0.0.1',
    dataDirectory: undefined,
    databaseUrl: kind === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined,
    seedFile: undefined,
    deterministic: undefined,
    role: 'all',
    rateLimit: undefined,
    logLevel: 'silent',
    hasMetrics: false,
    publicUrl: undefined,
    secret: undefined,
    allowsPrivateWebhooks: true,
    attemptDays: 30,
    registration: 'open',
    requestDays: 7,
    operatorToken: undefined,
    importFile: undefined,
    exportFile: undefined,
    ...overrides,
  });
}

/** A second engine on the same database, as a second node would have; all parts are the real ones. */
export function openEngine(database: Database, overrides: Partial<EngineSettings> = {}): Engine {
  return new Engine(database, {
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    providers,
    mint: randomMint,
    presentEntry,
    docsUrl: () => '/docs',
    vault: new Vault('a second node of a test'),
    metrics: unmeasured,
    onBug: () => undefined,
    ...overrides,
  });
}

/** The HTTP side once more over the same server, with a clock, an engine or routes of the test's own. */
export function openApp(server: Server, overrides: Partial<AppSettings> = {}): FastifyInstance {
  const { engine = server.engine, reader = server.reader, wallClock = Date.now } = overrides;
  const runner = new ClockRunner({
    ...{ ...server, engine, reader, wallClock },
    uptime: wallClock,
    onError: () => undefined,
  });
  return createApp({
    engine: server.engine,
    reader: server.reader,
    routes,
    publicUrl: () => '',
    rateLimiter: undefined,
    metrics: undefined,
    requestLog: undefined,
    coverage: undefined,
    writtenBehind: { requests: () => server.requestLog.flush(), coverage: () => Promise.resolve() },
    streams: server.eventStreams,
    readiness: () => Promise.resolve({ ok: true }),
    errands: new Map([
      ...webhookErrands({ ...server, engine, reader, wallClock }),
      ...consoleErrands({ ...server, engine, reader, wallClock, publicUrl: () => '' }),
      [beginAdvance.name, (submission) => runner.advance(submission)],
      [beginExamination.name, (submission) => server.examinations.examine(submission)],
      [resetOrganization.name, resetErrand({ engine, reader, requestLog: undefined })],
    ]),
    operator: undefined,
    console: consoleOf({ registration: 'open' }, server.people),
    logLevel: 'silent',
    wallClock: Date.now,
    uptime: wallClock,
    ...overrides,
  });
}
