import { Random } from '../process/chaos/requests.ts';
import { randomFrom } from '../support/seed.ts';
import type { Disturbance } from './run.ts';

export interface Planned {
  /** Seconds since the start of the traffic. */
  readonly at: number;
  readonly kind: Exclude<Disturbance, 'exit'>;
  /** The position of the node. */
  readonly node: number;
  readonly ms: number;
}

const freezeMs = { min: 2_000, max: 5_000 };
const hourMs = 3_600_000;
/** A day is four jumps, so that a table with a retention of a day never empties at once. */
const jumpsPerDay = 4;
const jumpMs = 6 * hourMs;

/** Minutes for each of these; a short run has each once. */
const minutesPer = { kill: 6, freeze: 7, cut: 3, restart: 12 };
/**
 * Node 1 is killed only early and late, so that its memory can be observed for most of the run. On PostgreSQL, node 2 is killed
 * throughout.
 */
const firstNodeKills = [0.05, 0.12, 0.93, 0.97];

export function planOf(seed: number, options: PlanOptions): readonly Planned[] {
  const { minutes, daySeconds, isOnPostgres } = options;
  const seconds = minutes * 60;
  const random = new Random(randomFrom(seed));
  const spread = (kind: Planned['kind'], every: number, node: (i: number) => number): Planned[] => {
    const count = Math.max(1, Math.round(minutes / every));
    return Array.from({ length: count }, (_, i) => ({
      at: ((i + 0.25 + random.next() / 2) / count) * seconds,
      kind,
      node: node(i),
      ms: kind === 'freeze' ? random.between(freezeMs.min, freezeMs.max) : 0,
    }));
  };
  const kills = minutes < 2 ? firstNodeKills.slice(1, 2) : firstNodeKills;
  const jumps = Math.floor((seconds / daySeconds) * jumpsPerDay);
  return [
    ...kills.map((share) => ({ at: share * seconds, kind: 'kill' as const, node: 0, ms: 0 })),
    ...Array.from({ length: jumps }, (_, i) => ({
      at: ((i + 0.5) * daySeconds) / jumpsPerDay,
      ...{ kind: 'jump' as const, node: 0, ms: jumpMs },
    })),
    ...spread('freeze', minutesPer.freeze, (i) => (isOnPostgres ? i % 2 : 0)),
    ...(isOnPostgres
      ? [
          ...spread('kill', minutesPer.kill, () => 1),
          ...spread('cut', minutesPer.cut, () => 0),
          ...spread('restart', minutesPer.restart, () => 0),
        ]
      : []),
  ].sort((a, b) => a.at - b.at);
}

interface PlanOptions {
  readonly minutes: number;
  readonly daySeconds: number;
  readonly isOnPostgres: boolean;
}
