import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Connections, Database } from '../db/database.ts';
import type { EngineMetrics } from '../engine/engine.ts';
import type { Answer } from '../engine/submission.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import { type Backlog, Backlogs } from './backlog.ts';
import type { DeliveryMeasures, RequestLogMeasures, RetentionMeasures, StatementObserver } from './ports.ts';

/** What is asked of the running parts when somebody looks. */
export interface Watched {
  readonly engine: { readonly queueLength: number; readonly queueMax: number };
  readonly database: Database;
  readonly deliverer: { readonly sending: number };
  readonly requestLog: { readonly waiting: number };
  readonly eventStreams: { readonly count: number };
  readonly wallClock: () => number;
}

export interface HttpMetrics {
  began(): void;
  /** A request has come to its end, answered or not. */
  ended(): void;
  answered(
    labels: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void;
  refused(code: string): void;
  replayed(): void;
}

export interface Metrics {
  readonly engine: EngineMetrics;
  readonly http: HttpMetrics;
  readonly deliveries: DeliveryMeasures;
  readonly requestLog: RequestLogMeasures;
  readonly retention: RetentionMeasures;
  readonly statements: StatementObserver;
  /** Called once, when there is something to ask. */
  readonly watch: (watched: Watched) => void;
  readonly registry: Registry;
}

const quick = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const slow = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/**
 * Prometheus metrics. They cost a little on every request, so nothing is measured unless `/metrics` is switched on. Labels are
 * names from our own lists, never ids, paths or texts of callers: how many series there are does not depend on traffic.
 */
export function createMetrics(build: { readonly version: string; readonly role: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `sandbank_${name}`, help, labelNames, registers });
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ) => new Histogram({ name: `sandbank_${name}`, help, buckets, labelNames, registers });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `sandbank_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

  new Gauge({
    name: 'sandbank_build_info',
    help: 'Always 1: which version runs in which role',
    labelNames: ['version', 'role'],
    registers,
  }).set({ ...build }, 1);
  const inFlight = new Gauge({
    name: 'sandbank_http_requests_in_flight',
    help: 'Requests that are not answered yet, event streams included',
    registers,
  });
  const requestSeconds = histogram(
    'http_request_seconds',
    'Time from a request to its answer, by route; event streams are left out',
    quick,
    ['method', 'route', 'status'],
  );
  const errors = counter('http_errors_total', 'Requests that were refused, by error code', ['code']);
  const replays = counter(
    'http_idempotent_replays_total',
    'Requests that got the kept answer of an earlier one',
  );
  const batchSize = histogram(
    'engine_batch_size',
    'Commands in one transaction',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  const batchSeconds = histogram('engine_batch_seconds', 'Time from taking a batch to its commit', quick);
  const waitSeconds = histogram('engine_wait_seconds', 'Time that a command waits for its batch', quick);
  const retries = counter('engine_batch_retries_total', 'Batches that did not commit at first, by reason', [
    'reason',
  ]);
  const commands = counter('engine_commands_total', 'Commands that were run, by what came of them', [
    'outcome',
  ]);
  const turnedAway = counter(
    'engine_turned_away_total',
    'Commands that were answered with 503 and never run, by reason',
    ['reason'],
  );
  const statementSeconds = histogram(
    'database_statement_seconds',
    'Time of a statement, with the wait for a connection where it has none yet',
    quick,
  );
  const failures = counter('database_failures_total', 'Statements that failed, by kind', ['kind']);
  const attempts = counter('delivery_attempts_total', 'Attempts to deliver an event, by what came of them', [
    'outcome',
  ]);
  const attemptSeconds = histogram('delivery_attempt_seconds', 'Time of an attempt', slow);
  const arrival = histogram(
    'delivery_arrival_seconds',
    'Time from the request that made an event to its receipt at the first attempt',
    slow,
  );
  const disabled = counter('delivery_endpoints_disabled_total', 'Endpoints that were given up, by reason', [
    'reason',
  ]);
  const dropped = counter(
    'request_log_dropped_total',
    'Requests that were counted but not kept in the request log',
  );
  const removed = counter('retention_rows_total', 'Rows that were deleted or cleared for their age', [
    'what',
  ]);
  const lastRun = new Gauge({
    name: 'sandbank_retention_last_run_timestamp_seconds',
    help: 'When this process last removed all that was old enough; absent until it has',
    registers,
  });
  lastRun.remove();
  // A counter that begins with its first event hides that event from `increase`.
  for (const outcome of ['accepted', 'replayed', 'refused', 'unavailable', 'failed'])
    commands.inc({ outcome }, 0);
  for (const outcome of ['succeeded', 'retrying', 'failed']) attempts.inc({ outcome }, 0);
  for (const kind of ['unavailable', 'conflict', 'busy', 'fault']) failures.inc({ kind }, 0);
  for (const reason of ['queue_full', 'too_late']) turnedAway.inc({ reason }, 0);
  for (const reason of ['gone', 'failing']) disabled.inc({ reason }, 0);
  for (const code of ['rate_limited', 'internal_error', 'service_unavailable']) errors.inc({ code }, 0);

  return {
    engine: {
      batch: (size, milliseconds) => {
        batchSize.observe(size);
        batchSeconds.observe(milliseconds / 1000);
      },
      wait: (milliseconds) => waitSeconds.observe(milliseconds / 1000),
      retry: (reason) => retries.inc({ reason }),
      answered: (answer) => commands.inc({ outcome: outcomeOf(answer) }),
      turnedAway: (reason) => turnedAway.inc({ reason }),
    },
    http: {
      began: () => inFlight.inc(),
      ended: () => inFlight.dec(),
      answered: (labels, seconds) => requestSeconds.observe(labels, seconds),
      refused: (code) => errors.inc({ code }),
      replayed: () => replays.inc(),
    },
    deliveries: {
      attempted: (outcome, seconds) => {
        attempts.inc({ outcome });
        attemptSeconds.observe(seconds);
      },
      arrived: (seconds) => arrival.observe(seconds),
      disabled: (reason) => disabled.inc({ reason }),
    },
    requestLog: { dropped: (requests) => dropped.inc(requests) },
    retention: {
      removed: (what, rows) => removed.inc({ what }, rows),
      finished: () => lastRun.setToCurrentTime(),
    },
    statements: (name) => {
      const startedAt = performance.now();
      return (failure) => {
        // Its statements are measured one by one.
        if (name === 'transaction') return;
        statementSeconds.observe((performance.now() - startedAt) / 1000);
        if (failure !== undefined) failures.inc({ kind: kindOf(failure) });
      };
    },
    watch: ({ engine, database, deliverer, requestLog, eventStreams, wallClock }) => {
      gauge('engine_queue_length', 'Commands that wait for a batch', () => engine.queueLength);
      gauge('engine_queue_max', 'Commands that may wait; the next one is turned away', () => engine.queueMax);
      gauge(
        'database_connections_max',
        'Connections that this process may have',
        () => database.connections.max,
      );
      gauge(
        'database_connections_waiting',
        'Statements that wait for a connection',
        () => database.connections.waiting,
      );
      watchConnections(registry, () => database.connections);
      gauge('delivery_sending', 'Requests to receivers that are under way', () => deliverer.sending);
      gauge('request_log_waiting', 'Requests that wait to be written to the log', () => requestLog.waiting);
      gauge('http_event_streams', 'Event streams that are open', () => eventStreams.count);
      watchBacklogs(registry, new Backlogs(database, wallClock));
    },
    registry,
  };
}

function outcomeOf({ code, isReplay }: Answer): string {
  if (isReplay) return 'replayed';
  if (code === null) return 'accepted';
  if (code === 'service_unavailable') return 'unavailable';
  return code === 'internal_error' ? 'failed' : 'refused';
}

function kindOf(failure: unknown): string {
  return failure instanceof DatabaseFailure ? failure.kind : 'fault';
}

function watchConnections(registry: Registry, connections: () => Connections): void {
  new Gauge({
    name: 'sandbank_database_connections',
    help: 'Open connections of this process, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { open, idle } = connections();
      this.set({ state: 'in_use' }, open - idle);
      this.set({ state: 'idle' }, idle);
    },
  });
}

/** What only the database knows. When it cannot be asked these are absent, and one says why. */
function watchBacklogs(registry: Registry, backlogs: Backlogs): void {
  const registers = [registry];
  const asked = (name: string, help: string, read: (backlog: Backlog) => number) =>
    new Gauge({
      name: `sandbank_${name}`,
      help,
      registers,
      async collect() {
        const backlog = await backlogs.ask();
        if (backlog) this.set(read(backlog));
        else this.remove();
      },
    });
  new Gauge({
    name: 'sandbank_database_up',
    help: 'Whether the database answers: 1 or 0',
    registers,
    async collect() {
      this.set((await backlogs.ask()) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'sandbank_database_info',
    help: 'Always 1: which database, and its version',
    labelNames: ['kind', 'version'],
    registers,
    async collect() {
      const backlog = await backlogs.ask();
      this.reset();
      if (backlog) this.set({ kind: backlogs.kind, version: backlog.version }, 1);
    },
  });
  asked(
    'database_migration_version',
    'The newest migration that the database has',
    ({ migration }) => migration,
  );
  asked(
    'delivery_due',
    'Deliveries that are due and not being sent, counted up to 10,000',
    ({ deliveriesDue }) => deliveriesDue,
  );
  asked(
    'delivery_oldest_due_seconds',
    'How long the oldest of them is due, by the clock of its application',
    ({ deliveryAge }) => deliveryAge,
  );
  asked(
    'timers_overdue',
    'Timers that are due and have not fired, counted up to 10,000',
    ({ timersDue }) => timersDue,
  );
  asked(
    'timers_lag_seconds',
    'How long the oldest of them is due, by the clock of its application',
    ({ timerAge }) => timerAge,
  );
  asked(
    'audit_unsealed_rows',
    'Audit rows behind the last seal of their organization, counted up to 10,000',
    ({ unsealed }) => unsealed,
  );
  asked('audit_seal_lag_seconds', 'The age of the oldest of them', ({ sealAge }) => sealAge);
}
