import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import { seedSchemaDocument } from '../../src/admin/seed-schema.ts';
import type { Config } from '../../src/config.ts';
import type { Database } from '../../src/db/database.ts';
import { Engine, type EngineSettings } from '../../src/engine/engine.ts';
import { randomIdGenerator } from '../../src/engine/id-generator.ts';
import { Vault } from '../../src/engine/vault.ts';
import type { AppSettings } from '../../src/http/app.ts';
import { createApp } from '../../src/http/app.ts';
import { unmeasured } from '../../src/http/metrics.ts';
import { hashWith } from '../../src/identity/password.ts';
import { providers } from '../../src/provider/index.ts';
import { beginAdvance } from '../../src/resources/clocks/machine.ts';
import { resources, routes } from '../../src/resources/index.ts';
import { presentEntry } from '../../src/resources/ledger/views.ts';
import { resetOrganization } from '../../src/resources/organizations/reset-commands.ts';
import { beginFork } from '../../src/resources/organizations/snapshot-commands.ts';
import { beginExamination } from '../../src/resources/webhooks/examination-commands.ts';
import { ClockRunner } from '../../src/runs/advance-run.ts';
import { consoleErrands } from '../../src/runs/console-errands.ts';
import { faultErrands } from '../../src/runs/fault-errands.ts';
import { forkErrand } from '../../src/runs/fork-run.ts';
import { resetErrand } from '../../src/runs/reset-run.ts';
import { webhookErrands } from '../../src/runs/webhook-errands.ts';
import { builtDocs, consoleOf, createServer, type Server } from '../../src/server.ts';
import { holdToContract } from './contract.ts';
import { watchServer } from './failure-report.ts';
import { migratedDatabase } from './postgres.ts';

/** How long a server waits for its database: as long as a server can, since the machine may be busy. Tests of this limit set their own. */
export const patientSeconds = 600;

/** What reads and writes records runs on both: `describe.each(databaseKinds)`. */
export const databaseKinds = ['pglite', 'postgres'] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** A hash takes 0.2 s of a core in earnest; test/console/audit.test.ts and every real process do it in earnest. */
const quickFigures = { cost: 2 ** 10, blockSize: 8, parallelization: 1 };

/** The server as it is put together for users: embedded in memory, or on a fresh database of the run's PostgreSQL. */
export async function openServer(
  kind: DatabaseKind,
  overrides: Partial<Config> = {},
  opening?: Promise<Database>,
): Promise<Server> {
  hashWith(quickFigures);
  const config: Config = {
    port: 0,
    host: '127.0.0.1',
    dataDirectory: undefined,
    databaseUrl:
      kind === 'postgres' && overrides.databaseUrl === undefined
        ? await migratedDatabase(inject('postgresUrl'))
        : undefined,
    connectionFile: undefined,
    seedFile: undefined,
    deterministic: undefined,
    role: 'all',
    rateLimit: undefined,
    logLevel: 'silent',
    hasMetrics: false,
    hasTraces: false,
    publicUrl: undefined,
    trustedProxies: [],
    allowedHosts: ['sandbank.test'],
    secret: undefined,
    allowsPrivateWebhooks: true,
    attemptDays: 30,
    registration: 'open',
    requestDays: 7,
    operatorToken: undefined,
    importFile: undefined,
    exportFile: undefined,
    drainSeconds: 0,
    statementSeconds: patientSeconds,
    ...overrides,
  };
  const server = await createServer(config, undefined, opening);
  holdToContract(server.app);
  watchServer(server.app);
  return server;
}

const sharedServers = new Map<string, Promise<Server>>();

/**
 * The server that all files of this worker share, one for each database and role: an organization for each test isolates them. It
 * is started by the first file that needs it and ends with the worker; do not close it. With the role `api` no background worker
 * runs, so that a test can run one itself.
 *
 * Tests that damage rows, restart, or need other settings open their own server with `openServer`.
 */
export function sharedServer(kind: DatabaseKind, role: 'all' | 'api' = 'all'): Promise<Server> {
  hashWith(quickFigures);
  const key = `${kind} ${role}`;
  let server = sharedServers.get(key);
  if (!server) {
    server = openServer(kind, { role }).then((opened) => {
      // Several files ask for its address; it listens once.
      let address: Promise<string> | undefined;
      const listen = () => {
        address ??= opened.listen();
        return address;
      };
      return { ...opened, listen };
    });
    sharedServers.set(key, server);
  }
  return server;
}

/** A second engine on the same database, as a second node would have; all parts are the real ones. */
export function openEngine(database: Database, overrides: Partial<EngineSettings> = {}): Engine {
  return new Engine(database, {
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    providers,
    idGenerator: randomIdGenerator,
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
  const app = createApp({
    engine: server.engine,
    reader: server.reader,
    routes,
    publicUrl: () => '',
    trustedProxies: [],
    allowedHosts: ['sandbank.test'],
    docsUrl: () => '/docs',
    rateLimiter: undefined,
    metrics: undefined,
    requestLog: undefined,
    coverage: undefined,
    writtenBehind: { requests: () => server.requestLog.flush(), coverage: () => server.coverage.flush() },
    streams: server.eventStreams,
    readiness: () => Promise.resolve({ ok: true }),
    errands: new Map([
      ...webhookErrands({ ...server, engine, reader, wallClock }),
      ...consoleErrands({ ...server, engine, reader, wallClock, publicUrl: () => '' }),
      ...faultErrands({ engine, reader }),
      [beginAdvance.name, (submission) => runner.advance(submission)],
      [resetOrganization.name, resetErrand({ engine, reader, requestLog: undefined })],
      [beginExamination.name, (submission) => server.examinations.examine(submission)],
      [
        beginFork.name,
        forkErrand({ ...server, engine, reader, wallClock, isOpen: overrides.console?.isOpen ?? true }),
      ],
    ]),
    faults: server.faults,
    operator: undefined,
    console: consoleOf({ registration: 'open' }, server.people, server.operator),
    docs: builtDocs,
    seedSchema: seedSchemaDocument,
    logLevel: 'silent',
    wallClock: Date.now,
    uptime: wallClock,
    ...overrides,
  });
  holdToContract(app);
  return app;
}

/** Reads rows from the database instead of the API. */
export function queryRows<Row>(
  server: Server,
  sql: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  return server.database.query<Row>({ name: '', text: sql }, values);
}
