import type { FastifyInstance } from 'fastify';
import type { Operator } from './admin/operator.ts';
import { createFoundation, type Foundation } from './assembly/foundation.ts';
import { createHttp, isWildcard } from './assembly/http.ts';
import { createParts, type Parts } from './assembly/parts.ts';
import { startWorkers, type Workers } from './assembly/workers.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { aheadMessage, migrate } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { createReader } from './db/reader.ts';
import type { AddressGuard } from './delivery/address-guard.ts';
import type { Deliverer } from './delivery/deliverer.ts';
import type { Inbox } from './delivery/inbox.ts';
import { checkVaultSecret } from './delivery/signature.ts';
import type { Engine } from './engine/engine.ts';
import type { FaultCounter } from './engine/fault-counter.ts';
import { Vault } from './engine/vault.ts';
import { Drain } from './http/drain.ts';
import type { EventStreams } from './http/event-stream.ts';
import type { HeldRequests } from './http/held-requests.ts';
import { listen, ownOrigin } from './http/http-server.ts';
import { passkeyHostOf } from './identity/passkeys.ts';
import { People } from './identity/people.ts';
import type { Instant, Reader } from './kernel/table.ts';
import { packageVersion } from './local/paths.ts';
import { operatorTokenOf, ownSecret } from './local/secret.ts';
import type { Examinations } from './runs/examination-run.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import { removeLeftovers } from './snapshots/temporary-files.ts';
import { openTelemetry } from './telemetry/telemetry.ts';
import type { Coverage } from './workers/coverage.ts';
import type { RequestLog } from './workers/request-log.ts';
import type { Sealer } from './workers/sealer.ts';

export interface Server {
  readonly app: FastifyInstance;
  readonly database: Database;
  /** The names of the migrations that this start applied. */
  readonly migrated: readonly string[];
  readonly engine: Engine;
  readonly reader: Reader;
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly people: People;
  /** The current time as records show it. With a seed it is fixed. */
  readonly wallClock: () => Instant;
  readonly deliverer: Deliverer;
  readonly examinations: Examinations;
  readonly requestLog: RequestLog;
  readonly coverage: Coverage;
  readonly sealer: Sealer;
  readonly eventStreams: EventStreams;
  readonly inbox: Inbox;
  readonly heldRequests: HeldRequests;
  /** The bearer token of the operator API; undefined when this server has no operator API. */
  readonly operatorToken: string | undefined;
  readonly faults: FaultCounter;
  readonly operator: Operator;
  readonly snapshots: Snapshots;
  /** Starts to listen and returns the local address. */
  listen(): Promise<string>;
  /**
   * Answers the in-flight requests, writes the last batch, and closes the database. `beforeClose` runs just before the
   * database closes, when nothing writes any more.
   */
  close(beforeClose?: () => Promise<void>): Promise<void>;
}

/** Wires the parts together with plain arguments. Both processes and tests create their server here. */
export async function createServer(
  config: Config,
  onCrash: (error: Error) => void = () => undefined,
  opening?: Promise<Database>,
  meanwhile?: (app: FastifyInstance) => void,
): Promise<Server> {
  // Fastify owns the logger and is created last. Until then there is nothing to log.
  let log: FastifyInstance['log'] | undefined;
  const onIdleError = ({ message }: Error) => log?.warn(`database connection lost: ${message}`);
  const opened = await (opening ?? openDatabase(config, onCrash, onIdleError));
  const telemetry = await openTelemetry(config, packageVersion(), opened.kind);
  const database = telemetry.measured(opened);
  try {
    const secret = config.secret ?? (await ownSecret(config.dataDirectory));
    const vault = new Vault(secret);
    const isTls = config.publicUrl?.startsWith('https:') ?? false;
    const passkeyHost = passkeyHostOf(config.publicUrl);
    const people = new People({ database, secret, isTls, passkeyHost, wallClock: Date.now });
    const foundation = createFoundation({
      ...{ config, database, telemetry, vault, people },
      onError: (error, what) => log?.warn({ err: error }, what),
      onBug: (error, requestId) => log?.error({ err: error, requestId }, 'a command failed'),
    });
    // This takes 0.1 to 0.4 s, and so does `meanwhile`. An embedded database takes longer to open, so both run while it opens.
    const server = assemble(foundation);
    log = server.app.log;
    meanwhile?.(server.app);
    const { applied: migrated, ahead } = await migrate(database);
    await checkVaultSecret(vault, createReader(database));
    if (ahead.length > 0) server.app.log.warn(aheadMessage(ahead));
    await server.start();
    return { ...server, migrated };
  } catch (error) {
    // An open database would keep the process alive, and its directory locked.
    await database.close();
    throw error;
  }
}

type Startable = Omit<Server, 'migrated'> & { start(): Promise<void> };

function assemble(foundation: Foundation): Startable {
  const { config, database, vault, people, wallClock, address, onError } = foundation;
  const operatorToken = operatorTokenOf(config);
  const parts = createParts(foundation);
  let isDraining = false;
  const app = createHttp(foundation, parts, operatorToken, () => isDraining);
  const drain = new Drain(app);
  const { engine, reader, guard, deliverer, examinations, requestLog, coverage } = parts;
  const { sealer, eventStreams, inbox, heldRequests, faults, operator, snapshots } = parts;
  let workers: Workers | undefined;
  return {
    ...{ app, database, engine, reader, vault, guard, people, wallClock, deliverer, examinations },
    ...{
      requestLog,
      coverage,
      sealer,
      eventStreams,
      inbox,
      heldRequests,
      operatorToken,
      faults,
      operator,
      snapshots,
    },
    start: async () => {
      void removeLeftovers(Date.now()).catch((error) => onError(error, 'removing temporary files failed'));
      if (config.role !== 'api') workers = await startWorkers(foundation, parts, app.log);
    },
    listen: async () => {
      const port = await listen(app, config.port, config.host);
      const host = isWildcard(config.host) ? 'localhost' : config.host;
      const local = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
      address.current = config.publicUrl ?? local;
      parts.sender.openInboxes(ownOrigin(app.server));
      return local;
    },
    close: async (beforeClose) => {
      isDraining = true;
      await drain.wait(config.drainSeconds);
      await stop(parts, drain, workers);
      if (config.role !== 'api')
        await sealer
          .stop()
          .catch((error: unknown) => onError(error, 'sealing the end of the audit trail failed'));
      try {
        await beforeClose?.();
      } finally {
        await database.close();
        await foundation.telemetry.tracing?.close();
      }
    },
  };
}

/** Stops each part before the parts that it uses. */
async function stop(parts: Parts, drain: Drain, workers: Workers | undefined): Promise<void> {
  await workers?.stopReaper();
  parts.runner.stop();
  parts.examinations.stop();
  await workers?.stopTimers();
  // Event streams never end by themselves, so close them before waiting for the open requests.
  parts.eventStreams.close();
  // Inboxes get nothing more, and respond to what they hold.
  parts.sender.closeInboxes();
  parts.heldRequests.close();
  await drain.close();
  await parts.deliveries.stop();
  await parts.deliverer.stop();
  await parts.engine.drain();
  await Promise.all([parts.requestLog.close(), parts.coverage.close()]);
}
