import type { FastifyInstance } from 'fastify';
import { forgetTrails, sweepDeleted } from '../engine/deletion.ts';
import { hourMs } from '../kernel/time.ts';
import { startReaper } from '../workers/reaper.ts';
import { startTimers } from '../workers/timers.ts';
import { vacuum } from '../workers/vacuum.ts';
import type { Foundation } from './foundation.ts';
import type { Parts } from './parts.ts';

/** How long after the deletion of an organization to check for rows that a node still wrote. */
const sweepWindowMs = hourMs;

/** The background workers of a node. They stop in two steps: the reaper before the runs, the timers after them. */
export interface Workers {
  stopReaper(): Promise<void>;
  stopTimers(): Promise<void>;
}

export async function startWorkers(
  { config, database, telemetry, people, wallClock, isAlone, onError }: Foundation,
  parts: Parts,
  log: FastifyInstance['log'],
): Promise<Workers> {
  const { engine, queue, journal, operator, runner, reader } = parts;
  const stopReaper = startReaper({
    ...{ ...config, engine, queue, journal, people, wallClock, onError },
    organizations: {
      expire: () => operator.expire(),
      sweep: () => sweepDeleted(database, Date.now() - sweepWindowMs),
      forgetTrails: () => forgetTrails(database, Date.now()),
    },
    vacuum: database.kind === 'pglite' ? (isStopped) => vacuum(database, isStopped) : undefined,
    measures: telemetry.metrics?.retention,
    onRemoved: (rows) => log.info({ rows }, 'expired rows removed'),
  });
  const timers = startTimers({ runner, reader, wallClock, isAlone, onError });
  await parts.deliveries.start();
  parts.sealer.start();
  return { stopReaper, stopTimers: () => timers.stop() };
}
