import type { FastifyInstance } from 'fastify';
import { Operator } from './admin/operator.ts';
import { seedSchemaDocument } from './admin/seed-schema.ts';
import { findBooksProblem } from './admin/verify-organization.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { listenPostgres } from './db/listener.ts';
import { aheadWords, migrate } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { createReader } from './db/reader.ts';
import { databaseReadiness } from './db/readiness.ts';
import { AddressGuard } from './delivery/address-guard.ts';
import { Deliverer } from './delivery/deliverer.ts';
import { createDeliveries } from './delivery/deliveries.ts';
import { DeliveryQueue } from './delivery/queue.ts';
import { Replayer } from './delivery/replayer.ts';
import { Sender } from './delivery/sender.ts';
import { tryVault } from './delivery/signature.ts';
import { CoverageJournal } from './engine/coverage-journal.ts';
import { forgetTrails, sweepDeleted } from './engine/deletion.ts';
import { Engine } from './engine/engine.ts';
import { FaultCounter } from './engine/fault-counter.ts';
import { randomIdGenerator, seededIdGenerator, seededNow } from './engine/id-generator.ts';
import { newSuffix } from './engine/ids.ts';
import { RequestJournal } from './engine/request-journal.ts';
import { Seals } from './engine/seals.ts';
import { hashOfToken } from './engine/tokens.ts';
import { Vault } from './engine/vault.ts';
import { createApp } from './http/app.ts';
import type { Console } from './http/console.ts';
import { Drain } from './http/drain.ts';
import { EventStreams } from './http/event-stream.ts';
import { listen } from './http/http-server.ts';
import { unmeasured } from './http/metrics.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { People } from './identity/people.ts';
import type { Reader } from './kernel/route.ts';
import type { Instant } from './kernel/table.ts';
import { built, packageVersion } from './local/paths.ts';
import { operatorTokenOf, ownSecret } from './local/secret.ts';
import { providers } from './provider/index.ts';
import { coverageOf } from './resources/coverage/api.ts';
import { consoleRoutes, coverageUniverse, eventCatalogue, resources, routes } from './resources/index.ts';
import { presentEntry } from './resources/ledger/views.ts';
import { ClockRunner } from './runs/advance-run.ts';
import { errandsOf } from './runs/errands.ts';
import { Examinations } from './runs/examination-run.ts';
import { deleteErrand, resetErrand } from './runs/reset-run.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { SnapshotStore } from './snapshots/store.ts';
import { removeLeftovers } from './snapshots/temporary-files.ts';
import { openTelemetry, type Telemetry } from './telemetry/telemetry.ts';
import { Coverage } from './workers/coverage.ts';
import { startReaper } from './workers/reaper.ts';
import { RequestLog } from './workers/request-log.ts';
import { Sealer } from './workers/sealer.ts';
import { startTimers } from './workers/timers.ts';

export interface Server {
  readonly app: FastifyInstance;
  readonly database: Database;
  /** The names of the migrations that were applied at the start. */
  readonly migrated: readonly string[];
  readonly engine: Engine;
  readonly reader: Reader;
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly people: People;
  /** The time that is shown for what happens now. */
  readonly wallClock: () => Instant;
  readonly deliverer: Deliverer;
  readonly examinations: Examinations;
  readonly requestLog: RequestLog;
  readonly coverage: Coverage;
  readonly sealer: Sealer;
  readonly eventStreams: EventStreams;
  /** What the operator API takes; undefined when there is none. */
  readonly operatorToken: string | undefined;
  readonly faults: FaultCounter;
  readonly operator: Operator;
  readonly snapshots: Snapshots;
  /** Starts to listen and returns the address under which callers reach it. */
  listen(): Promise<string>;
  /**
   * Requests under way are answered, then the last batch is written, then the database is closed; just before that, when
   * nothing moves any more, `last` is done.
   */
  close(last?: () => Promise<void>): Promise<void>;
}

/** Puts the parts together by plain arguments. Everything that runs, in a process or in a test, is made here. */
export async function createServer(
  config: Config,
  onCrash: (error: Error) => void = () => undefined,
  opening?: Promise<Database>,
  meanwhile?: (app: FastifyInstance) => void,
): Promise<Server> {
  // The logger belongs to Fastify, which is made last; until then there is nothing to log about.
  let log: FastifyInstance['log'] | undefined;
  const onIdleError = ({ message }: Error) => log?.warn(`database connection lost: ${message}`);
  const opened = await (opening ?? openDatabase(config, onCrash, onIdleError));
  const telemetry = await openTelemetry(config, packageVersion(), opened.kind);
  const database = telemetry.measured(opened);
  try {
    const secret = config.secret ?? (await ownSecret(config.dataDirectory));
    const vault = new Vault(secret);
    const isTls = config.publicUrl?.startsWith('https:') ?? false;
    const people = new People({ database, secret, isTls, wallClock: Date.now });
    // Which takes 0.1 to 0.4 s, as does `meanwhile`: an embedded database takes longer to open.
    const server = assemble(config, { database, telemetry }, vault, people, (made) => {
      log = made;
    });
    meanwhile?.(server.app);
    const { applied: migrated, ahead } = await migrate(database);
    await tryVault(vault, createReader(database));
    if (ahead.length > 0) server.app.log.warn(aheadWords(ahead));
    await server.start();
    return { ...server, migrated };
  } catch (error) {
    // An open database would keep the process alive, and its directory locked.
    await database.close();
    throw error;
  }
}

function assemble(
  config: Config,
  { database, telemetry }: Pick<Server, 'database'> & { readonly telemetry: Telemetry },
  vault: Vault,
  people: People,
  onLog: (log: FastifyInstance['log']) => void,
): Omit<Server, 'migrated'> & { start(): Promise<void> } {
  const idGenerator =
    config.deterministic === undefined ? randomIdGenerator : seededIdGenerator(config.deterministic);
  const wallClock = idGenerator.isSeeded ? () => seededNow : Date.now;
  const uptime = () => performance.now();
  const operatorToken = operatorTokenOf(config);
  let address = config.publicUrl ?? '';
  const publicUrl = () => address;
  // With a seed an error has the same bytes on every port: a path, which clients resolve against the server's address.
  const docsUrl = () => `${idGenerator.isSeeded ? (config.publicUrl ?? '') : address}/docs`;
  const { metrics, tracing } = telemetry;
  const reader = telemetry.reading(createReader(database));
  const engine = new Engine(telemetry.traced(database), {
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    providers,
    presentEntry,
    docsUrl,
    vault,
    idGenerator,
    onCommit: (committed) => {
      deliveries.onCommit(committed);
      sealer.onCommit(committed);
      eventStreams.onCommit(committed);
      faults.onCommit(committed);
      coverage.onCommit(committed);
    },
    metrics: metrics?.engine ?? unmeasured,
    tracing,
    onBug: (error, requestId) => app.log.error({ err: error, requestId }, 'a command failed'),
  });
  const onError = (error: unknown, what: string) => app.log.warn({ err: error }, what);
  const isAlone = database.kind === 'pglite';
  const guard = new AddressGuard({ allowsPrivate: config.allowsPrivateWebhooks });
  const queue = new DeliveryQueue(database, newSuffix());
  const sender = new Sender(guard);
  const faults = new FaultCounter(database, wallClock);
  const deliverer = new Deliverer({
    queue,
    engine,
    sender,
    vault,
    faults,
    endpointsInClaimMax: isAlone ? 200 : 8,
    measures: metrics?.deliveries,
    tracing,
    wallClock,
    realTime: Date.now,
    onError,
  });
  const sealer = new Sealer({ seals: new Seals(database), wallClock, onError });
  const eventStreams = new EventStreams({ reader, wallClock, onError });
  const replayer = new Replayer({ engine, reader, wallClock });
  const deliveries = createDeliveries({
    deliverer,
    replayer,
    queue,
    reader,
    wallClock,
    isAlone,
    listen: (onWords) =>
      listenPostgres(config.databaseUrl ?? '', 'sandbank_work', onWords, (error) =>
        onError(error, 'announcements of other nodes are not heard'),
      ),
    onError,
  });
  const nextMark = (appId: string) => deliverer.nextMark(appId);
  const runner = new ClockRunner({
    ...{ engine, reader, wallClock, nextMark, onError },
    uptime,
  });
  const examinations = new Examinations({
    ...{ engine, vault, sender, catalogue: eventCatalogue, wallClock },
    realTime: Date.now,
  });
  const journal = new RequestJournal(database);
  const requestLog = new RequestLog({ journal, wallClock, uptime, onError, measures: metrics?.requestLog });
  const reset = resetErrand({ engine, reader, requestLog });
  const snapshots = new Snapshots({
    store: new SnapshotStore(database, findBooksProblem),
    ...{ vault, idGenerator: idGenerator, wallClock },
    onWebhooks: (webhooks) => deliveries.learn(webhooks),
  });
  const coverage = new Coverage({
    universe: coverageUniverse,
    journal: new CoverageJournal(database),
    onError,
  });
  const remove = deleteErrand({
    engine,
    reader,
    flush: () => Promise.all([requestLog.flush(), coverage.flush()]),
  });
  const operator = new Operator({
    ...{ engine, reader, wallClock, reset, remove, snapshots },
    realTime: Date.now,
  });
  const isOpen = config.registration === 'open';
  metrics?.watch({ engine, database, deliverer, requestLog, eventStreams, wallClock });
  let isDraining = false;
  const app = createApp({
    engine,
    reader,
    routes: config.role === 'worker' ? [] : routes,
    ...{ publicUrl, docsUrl },
    trustedProxies: config.trustedProxies,
    allowedHosts: isWildcard(config.host) ? config.allowedHosts : [config.host, ...config.allowedHosts],
    rateLimiter: config.rateLimit === undefined ? undefined : createRateLimiter(config.rateLimit),
    metrics,
    tracing,
    requestLog,
    coverage,
    writtenBehind: { requests: () => requestLog.flush(), coverage: () => coverage.flush() },
    streams: eventStreams,
    readiness: () =>
      isDraining
        ? Promise.resolve({ ok: false, reason: 'The server is shutting down.' })
        : databaseReadiness(database),
    errands: errandsOf({
      ...{ engine, reader, vault, guard, deliverer, wallClock, publicUrl, people, snapshots, isOpen },
      ...{ runner, examinations, coverage, reset, remove },
    }),
    faults,
    operator:
      config.role === 'worker'
        ? undefined
        : {
            token: operatorToken,
            actions: operator,
            coverage: (orgIds) => coverage.flush().then(() => coverageOf(reader, orgIds, coverageUniverse)),
          },
    console: config.role === 'worker' ? undefined : consoleOf(config, people, operator),
    docs: builtDocs,
    seedSchema: seedSchemaDocument,
    logLevel: config.logLevel,
    wallClock,
    uptime,
  });
  const drain = new Drain(app);
  const { log } = app;
  onLog(log);
  let stopReaper: (() => Promise<void>) | undefined;
  let timers: ReturnType<typeof startTimers> | undefined;

  return {
    ...{ app, database, engine, reader, vault, guard, people, wallClock, deliverer, examinations },
    ...{ requestLog, coverage, sealer, eventStreams, operatorToken, faults, operator, snapshots },
    start: async () => {
      void removeLeftovers(Date.now()).catch((error) => onError(error, 'temporary files were not removed'));
      if (config.role === 'api') return;
      stopReaper = startReaper({
        ...{ ...config, engine, queue, journal, people, wallClock, onError },
        organizations: {
          expire: () => operator.expire(),
          sweep: () => sweepDeleted(database, Date.now() - sweptForMs),
          forgetTrails: () => forgetTrails(database, Date.now()),
        },
        measures: metrics?.retention,
        onRemoved: (rows) => log.info({ rows }, 'old rows were removed'),
      });
      timers = startTimers({ runner, reader, wallClock, isAlone, onError });
      await deliveries.start();
      sealer.start();
    },
    listen: async () => {
      const port = await listen(app, config.port, config.host);
      const host = isWildcard(config.host) ? 'localhost' : config.host;
      const local = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
      address = config.publicUrl ?? local;
      return local;
    },
    close: async (last) => {
      isDraining = true;
      await drain.wait(config.drainSeconds);
      await stopReaper?.();
      runner.stop();
      examinations.stop();
      await timers?.stop();
      // Before the requests are waited for: these would never end by themselves.
      eventStreams.close();
      await drain.close();
      await deliveries.stop();
      await deliverer.stop();
      await engine.drain();
      await Promise.all([requestLog.close(), coverage.close()]);
      if (config.role !== 'api')
        await sealer
          .stop()
          .catch((error: unknown) => onError(error, 'the end of the audit trail was not sealed'));
      try {
        await last?.();
      } finally {
        await database.close();
        await tracing?.close();
      }
    },
  };
}

/** An address that stands for all addresses of the machine is not the name of a host. */
const isWildcard = (host: string) => host === '0.0.0.0' || host === '::';

/** How long after its deletion an organization is checked for rows that were written all the same. */
const sweptForMs = 60 * 60_000;
const builtConsole = new URL('console/', built);
export const builtDocs = new URL('docs/', built);

export function consoleOf(
  { registration }: Pick<Config, 'registration'>,
  people: People,
  operator: Pick<Operator, 'snapshotFor'>,
): Console {
  return {
    people,
    routes: consoleRoutes,
    directory: builtConsole,
    isOpen: registration === 'open',
    hashOfToken,
    takeSnapshot: (request, principal) => operator.snapshotFor(request, principal),
  };
}
