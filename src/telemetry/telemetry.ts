import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { observed } from '../db/observed.ts';
import type { Reader } from '../kernel/table.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Tracing } from './otlp.ts';
import { tracedReader } from './traced-reader.ts';

/** Metrics and tracing of a server, each undefined unless enabled. */
export interface Telemetry {
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  /** Wraps the database for all users. */
  readonly measured: (database: Database) => Database;
  /** Wraps the database for commands. */
  readonly traced: (database: Database) => Database;
  /** Wraps the reader for requests. */
  readonly reading: (reader: Reader) => Reader;
}

export async function openTelemetry(
  { hasMetrics, hasTraces, role }: Pick<Config, 'hasMetrics' | 'hasTraces' | 'role'>,
  version: string,
  databaseKind: Database['kind'],
): Promise<Telemetry> {
  const metrics = hasMetrics ? createMetrics({ version, role }) : undefined;
  // Loaded only when enabled: it takes 0.15 s and 17 MB.
  const tracing = hasTraces
    ? new (await import('./otlp.ts')).Tracing({ version, role, databaseKind, env: process.env })
    : undefined;
  return {
    metrics,
    tracing,
    measured: (database) => (metrics ? observed(database, metrics.statements) : database),
    traced: (database) => (tracing ? observed(database, tracing.statements) : database),
    reading: (reader) => (tracing ? tracedReader(reader, tracing.statements) : reader),
  };
}
