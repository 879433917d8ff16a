import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import { seedSchemaDocument } from '../../src/admin/seed-schema.ts';
import { builtDocs, consoleOf } from '../../src/assembly/http.ts';
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
import { resources, routes } from '../../src/resources/index.ts';
import { presentEntry } from '../../src/resources/ledger/views.ts';
import { ClockRunner } from '../../src/runs/advance-run.ts';
import { createPorts } from '../../src/runs/ports.ts';
import { createServer, type Server } from '../../src/server.ts';
import { checkContract } from './contract.ts';
import { watchServer } from './failure-report.ts';
import { migratedDatabase } from './postgres.ts';

/** The database timeout: the maximum, because the machine may be busy. Tests of this limit set their own. */
const patientSeconds = 600;

/** Tests that read or write records run on both: `describe.each(databaseKinds)`. */
export const databaseKinds = ['pglite', 'postgres'] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** A production hash takes 0.2 s of CPU; test/console/audit.test.ts and every real process use it. */
const quickParameters = { cost: 2 ** 10, blockSize: 8, parallelization: 1 };

/** A complete server: embedded in memory, or on a new database of the run's PostgreSQL. */
export async function openServer(
  kind: DatabaseKind,
  overrides: Partial<Config> = {},
  opening?: Promise<Database>,
): Promise<Server> {
  hashWith(quickParameters);
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
  checkContract(server.app);
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
  hashWith(quickParameters);
  const key = `${kind} ${role}`;
  let server = sharedServers.get(key);
  if (!server) {
    server = openServer(kind, { role }).then((opened) => {
      // Several files request its address; it listens once.
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

/** A second engine on the same database, as a second node would have. Nothing is mocked. */
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

/** A second HTTP app over the same server, with overrides such as a clock, an engine, a runner or routes. */
export function openApp(
  server: Server,
  { runner, ...overrides }: Partial<AppSettings> & { readonly runner?: ClockRunner } = {},
): FastifyInstance {
  const { engine = server.engine, reader = server.reader, wallClock = Date.now } = overrides;
  const parts = { ...server, engine, reader, wallClock };
  const ports = createPorts({
    ...parts,
    runner: runner ?? new ClockRunner({ ...parts, uptime: wallClock, onError: () => undefined }),
    publicUrl: overrides.publicUrl ?? (() => ''),
    isOpen: overrides.console?.isOpen ?? true,
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
    inbox: {
      isPlausible: (request) => server.inbox.isPlausible(request),
      accept: (request) => server.inbox.accept(request),
      held: server.heldRequests,
    },
    readiness: () => Promise.resolve({ ok: true }),
    ports,
    faults: server.faults,
    operator: undefined,
    console: consoleOf({ registration: 'open' }, server.people, server.operator, server.vault),
    docs: builtDocs,
    seedSchema: seedSchemaDocument,
    logLevel: 'silent',
    wallClock: Date.now,
    uptime: wallClock,
    ...overrides,
  });
  checkContract(app);
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
