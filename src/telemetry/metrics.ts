import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Connections, Database } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import type { EngineMetrics } from '../engine/engine.ts';
import type { Answer } from '../kernel/command.ts';
import { type Backlog, Backlogs } from './backlog.ts';
import type { DeliveryMeasures, RequestLogMeasures, RetentionMeasures, StatementObserver } from './ports.ts';

/** Components that gauges read at scrape time. */
export interface Watched {
  readonly engine: { readonly queueLength: number; readonly queueMax: number };
  readonly database: Database;
  readonly deliverer: { readonly sending: number };
  readonly requestLog: { readonly waiting: number };
  readonly eventStreams: { readonly count: number };
  readonly wallClock: () => number;
}

interface HttpMetrics {
  began(): void;
  /** A request has ended, with or without a response. */
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
  /** Registers the gauges; called once, when the components exist. */
  readonly watch: (watched: Watched) => void;
  readonly registry: Registry;
}

const quick = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const slow = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/**
 * Prometheus metrics. They cost a little on every request, so nothing is measured unless `/metrics` is enabled. Label values
 * come from fixed lists, never from ids, paths or input of callers: the number of series does not depend on traffic.
 */
export function createMetrics(build: { readonly version: string; readonly role: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const instruments = instrumentsOf(registry);
  instruments
    .plainGauge('build_info', 'Always 1: which version runs in which role', ['version', 'role'])
    .set({ ...build }, 1);
  return {
    http: httpMetrics(instruments),
    engine: engineMetrics(instruments),
    statements: statementMetrics(instruments),
    deliveries: deliveryMetrics(instruments),
    requestLog: requestLogMetrics(instruments),
    retention: retentionMetrics(instruments),
    watch: (watched) => watch(instruments, registry, watched),
    registry,
  };
}

type Instruments = ReturnType<typeof instrumentsOf>;

/** Creates metrics of one registry, all with the prefix `sandbank_`. */
function instrumentsOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name: `sandbank_${name}`, help, labelNames, registers }),
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: Label[] = [],
    ) => new Histogram({ name: `sandbank_${name}`, help, buckets, labelNames, registers }),
    plainGauge: <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Gauge({ name: `sandbank_${name}`, help, labelNames, registers }),
    /** Read when the metrics are scraped. */
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `sandbank_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}

function httpMetrics({ plainGauge, histogram, counter }: Instruments): HttpMetrics {
  const inFlight = plainGauge('http_requests_in_flight', 'Requests in flight, including event streams');
  const requestSeconds = histogram(
    'http_request_seconds',
    'Time from a request to its response, by route, without event streams',
    quick,
    ['method', 'route', 'status'],
  );
  const errors = counter('http_errors_total', 'Refused requests, by error code', ['code']);
  const replays = counter(
    'http_idempotent_replays_total',
    'Requests that were answered with a stored response',
  );
  // A counter that starts with its first event hides that event from `increase`.
  for (const code of ['rate_limited', 'internal_error', 'service_unavailable']) errors.inc({ code }, 0);
  return {
    began: () => inFlight.inc(),
    ended: () => inFlight.dec(),
    answered: (labels, seconds) => requestSeconds.observe(labels, seconds),
    refused: (code) => errors.inc({ code }),
    replayed: () => replays.inc(),
  };
}

function engineMetrics({ histogram, counter }: Instruments): EngineMetrics {
  const batchSize = histogram(
    'engine_batch_size',
    'Commands in one transaction',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  const batchSeconds = histogram('engine_batch_seconds', 'Time from taking a batch to its commit', quick);
  const waitSeconds = histogram('engine_wait_seconds', 'Time that a command waits for its batch', quick);
  const retries = counter('engine_batch_retries_total', 'Retries of batches, by reason', ['reason']);
  const commands = counter('engine_commands_total', 'Executed commands, by outcome', ['outcome']);
  const turnedAway = counter(
    'engine_turned_away_total',
    'Commands that were refused with 503 and not executed, by reason',
    ['reason'],
  );
  for (const outcome of ['accepted', 'replayed', 'refused', 'unavailable', 'failed'])
    commands.inc({ outcome }, 0);
  for (const reason of ['queue_full', 'too_late']) turnedAway.inc({ reason }, 0);
  return {
    batch: (size, milliseconds) => {
      batchSize.observe(size);
      batchSeconds.observe(milliseconds / 1000);
    },
    wait: (milliseconds) => waitSeconds.observe(milliseconds / 1000),
    retry: (reason) => retries.inc({ reason }),
    answered: (answer) => commands.inc({ outcome: outcomeOf(answer) }),
    turnedAway: (reason) => turnedAway.inc({ reason }),
  };
}

function statementMetrics({ histogram, counter }: Instruments): StatementObserver {
  const statementSeconds = histogram(
    'database_statement_seconds',
    'Duration of a statement, including any wait for a connection',
    quick,
  );
  const failures = counter('database_failures_total', 'Failed statements, by kind', ['kind']);
  for (const kind of ['unavailable', 'conflict', 'busy', 'fault']) failures.inc({ kind }, 0);
  return (name) => {
    const startedAt = performance.now();
    return (failure) => {
      // Its statements are measured individually.
      if (name === 'transaction') return;
      statementSeconds.observe((performance.now() - startedAt) / 1000);
      if (failure !== undefined) failures.inc({ kind: kindOf(failure) });
    };
  };
}

function deliveryMetrics({ histogram, counter }: Instruments): DeliveryMeasures {
  const attempts = counter('delivery_attempts_total', 'Delivery attempts, by outcome', ['outcome']);
  const attemptSeconds = histogram('delivery_attempt_seconds', 'Duration of a delivery attempt', slow);
  const arrival = histogram(
    'delivery_arrival_seconds',
    'Time from the request that caused an event to its delivery at the first attempt',
    slow,
  );
  const disabled = counter('delivery_endpoints_disabled_total', 'Disabled endpoints, by reason', ['reason']);
  for (const outcome of ['succeeded', 'retrying', 'failed']) attempts.inc({ outcome }, 0);
  for (const reason of ['gone', 'failing']) disabled.inc({ reason }, 0);
  return {
    attempted: (outcome, seconds) => {
      attempts.inc({ outcome });
      attemptSeconds.observe(seconds);
    },
    arrived: (seconds) => arrival.observe(seconds),
    disabled: (reason) => disabled.inc({ reason }),
  };
}

function requestLogMetrics({ counter }: Instruments): RequestLogMeasures {
  const dropped = counter(
    'request_log_dropped_total',
    'Requests that were counted but not stored in the request log',
  );
  return { dropped: (requests) => dropped.inc(requests) };
}

function retentionMetrics({ plainGauge, counter }: Instruments): RetentionMeasures {
  const removed = counter('retention_rows_total', 'Rows that the retention worker deleted or cleared', [
    'what',
  ]);
  const lastRun = plainGauge(
    'retention_last_run_timestamp_seconds',
    'When this process last completed a retention round; absent before the first',
  );
  lastRun.remove();
  return {
    removed: (what, rows) => removed.inc({ what }, rows),
    finished: () => lastRun.setToCurrentTime(),
  };
}

function watch({ gauge }: Instruments, registry: Registry, watched: Watched): void {
  const { engine, database, deliverer, requestLog, eventStreams, wallClock } = watched;
  gauge('engine_queue_length', 'Commands that wait for a batch', () => engine.queueLength);
  gauge(
    'engine_queue_max',
    'Maximum number of waiting commands; further ones are refused',
    () => engine.queueMax,
  );
  gauge(
    'database_connections_max',
    'Maximum number of connections of this process',
    () => database.connections.max,
  );
  gauge(
    'database_connections_waiting',
    'Statements that wait for a connection',
    () => database.connections.waiting,
  );
  watchConnections(registry, () => database.connections);
  gauge('delivery_sending', 'Requests to receivers in flight', () => deliverer.sending);
  gauge('request_log_waiting', 'Requests that wait to be written to the log', () => requestLog.waiting);
  gauge('http_event_streams', 'Open event streams', () => eventStreams.count);
  watchBacklogs(registry, new Backlogs(database, wallClock));
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

/** Gauges that need database queries. When the database does not answer they are absent, except `sandbank_database_up`. */
function watchBacklogs(registry: Registry, backlogs: Backlogs): void {
  const registers = [registry];
  const backlogGauge = (name: string, help: string, read: (backlog: Backlog) => number) =>
    new Gauge({
      name: `sandbank_${name}`,
      help,
      registers,
      async collect() {
        const backlog = await backlogs.read();
        if (backlog) this.set(read(backlog));
        else this.remove();
      },
    });
  new Gauge({
    name: 'sandbank_database_up',
    help: 'Whether the database responds: 1 or 0',
    registers,
    async collect() {
      this.set((await backlogs.read()) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'sandbank_database_info',
    help: 'Always 1: which database, and its version',
    labelNames: ['kind', 'version'],
    registers,
    async collect() {
      const backlog = await backlogs.read();
      this.reset();
      if (backlog) this.set({ kind: backlogs.kind, version: backlog.version }, 1);
    },
  });
  backlogGauge(
    'database_migration_version',
    'The newest migration of the database',
    ({ migration }) => migration,
  );
  backlogGauge(
    'delivery_due',
    'Deliveries that are due and not being sent, counted up to 10,000',
    ({ deliveriesDue }) => deliveriesDue,
  );
  backlogGauge(
    'delivery_oldest_due_seconds',
    'How long the oldest of them is overdue, by its application clock',
    ({ deliveryAge }) => deliveryAge,
  );
  backlogGauge(
    'timers_overdue',
    'Timers that are due and have not fired, counted up to 10,000',
    ({ timersDue }) => timersDue,
  );
  backlogGauge(
    'timers_lag_seconds',
    'How long the oldest of them is overdue, by its application clock',
    ({ timerAge }) => timerAge,
  );
  backlogGauge(
    'audit_unsealed_rows',
    'Audit rows after the last seal of their organization, counted up to 10,000',
    ({ unsealed }) => unsealed,
  );
  backlogGauge('audit_seal_lag_seconds', 'The age of the oldest of them', ({ sealAge }) => sealAge);
}
