import type { BacklogSample, NodeSample, Run, Sample } from './run.ts';
import { median, type Point, slope } from './statistics.ts';

export interface Verdict {
  readonly name: string;
  /** `short`: the run was too short to judge this. */
  readonly result: 'passed' | 'failed' | 'short';
  readonly text: string;
  readonly details: readonly string[];
}

const megabyte = 1024 * 1024;
const hour = 3_600;
/** Below this time of observation a slope per hour says more about garbage collection than about growth. */
const observedSecondsMin = 600;
const pointsMin = 8;

/**
 * V8 and the allocator raise the resident size in steps of a few megabytes, long after the load is constant. A leak of one
 * kilobyte in every hundredth request at 40 requests a second is 1.4 MB an hour, one in every request 140 MB.
 */
const residentShareMax = 0.08;
const residentBytesMax = 24 * megabyte;
/** A node remembers 40,000 idempotency keys. At 10 writes a second they fill 6 MB within an hour. */
const heapBytesMax = 16 * megabyte;
/** Sockets of clients and of the pool come and go; an hour has more than 50 disturbances, so a leak of one handle for each exceeds this. */
const handlesMax = 20;
/** A retention round runs every ten minutes, so a table also contains what ten minutes add. */
const roundSeconds = 600;
const levelShareMax = 0.15;
const levelBytesMin = 4 * megabyte;
const latencyGrowthMax = 1.5;
const latencyMsMin = 25;

/** Tables from which the retention worker deletes rows, or clears them. */
export const retentionTables: readonly string[] = [
  ...['idempotency', 'idempotency_secrets', 'requests'],
  ...['person_sessions', 'person_verifications', 'sign_in_budgets', 'sign_in_tries'],
];
/** These queues are empty when nothing is due, so they stay small whatever the length of the run. */
export const queueTables: readonly string[] = ['timers', 'webhook_health', 'clocks', 'ledger_balances'];

export function verdictsOf(run: Run): readonly Verdict[] {
  return [
    ...run.audits.map(({ name, text, findings }) => ({
      ...{ name, text, details: findings },
      result: findings.length === 0 ? ('passed' as const) : ('failed' as const),
    })),
    drained(run),
    noExit(run),
    flat(run, 'Memory is flat', ({ residentBytes }) => residentBytes / megabyte, {
      unit: 'MB',
      limit: (typical) => Math.max(residentBytesMax / megabyte, typical * residentShareMax),
    }),
    flat(run, 'The JavaScript heap is flat', ({ heapBytes }) => heapBytes / megabyte, {
      unit: 'MB',
      limit: () => heapBytesMax / megabyte,
    }),
    flat(run, 'Open handles are flat', ({ handles }) => handles ?? Number.NaN, {
      unit: 'handles',
      limit: () => handlesMax,
    }),
    level(run),
    responsive(run),
  ];
}

/** The part of the run in which growth counts, without the end, which has its own disturbances. */
function judged(run: Run): readonly Sample[] {
  return run.samples.filter(({ at }) => at >= run.warmUpSeconds && at <= run.minutes * 60);
}

/** The longest life of each node within the judged part. Each process has its own warm-up: it fills its caches and V8 compiles its code. */
export function longestLives(run: Run): ReadonlyMap<string, readonly (readonly [number, NodeSample])[]> {
  const lives = new Map<string, (readonly [number, NodeSample])[]>();
  for (const { at, nodes } of judged(run))
    for (const node of nodes) {
      if (node.uptimeSeconds < run.warmUpSeconds) continue;
      const key = `${node.name} ${node.life}`;
      lives.set(key, [...(lives.get(key) ?? []), [at, node]]);
    }
  const longest = new Map<string, readonly (readonly [number, NodeSample])[]>();
  for (const life of lives.values()) {
    const name = life[0]?.[1].name ?? '';
    if (life.length > (longest.get(name)?.length ?? 0)) longest.set(name, life);
  }
  return longest;
}

interface Flatness {
  readonly unit: string;
  /** Per hour, for a typical value. */
  readonly limit: (typical: number) => number;
}

function flat(
  run: Run,
  name: string,
  measure: (node: NodeSample) => number,
  { unit, limit }: Flatness,
): Verdict {
  const details: string[] = [];
  let result: Verdict['result'] = 'short';
  for (const [node, life] of longestLives(run)) {
    const points: Point[] = life
      .map(([at, sample]) => ({ x: at / hour, y: measure(sample) }))
      .filter(({ y }) => Number.isFinite(y));
    const observed = ((points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0)) * hour;
    if (points.length < pointsMin || observed < observedSecondsMin) continue;
    const values = points.map(({ y }) => y);
    const perHour = slope(points);
    const max = limit(median(values));
    const isFlat = perHour <= max;
    if (result === 'short' || !isFlat) result = isFlat ? 'passed' : 'failed';
    details.push(
      `${node}: ${signed(perHour)} ${unit} per hour, limit ${max.toFixed(1)}, over ${Math.round(observed / 60)} minutes without a restart ` +
        `(median ${median(values).toFixed(0)} ${unit})`,
    );
  }
  const text =
    result === 'short'
      ? `Not judged: no process was observed for ${observedSecondsMin / 60} minutes after its first ${Math.round(run.warmUpSeconds / 60)}.`
      : `The Theil–Sen slope of the longest life of each process, after its first ${Math.round(run.warmUpSeconds / 60)} minutes.`;
  return { name, result, text, details };
}

/** A table with retention must not grow once a day of the servers and a round of the worker have passed. */
function level(run: Run): Verdict {
  const name = 'Retention bounds its tables';
  const from = Math.max(run.warmUpSeconds, run.daySeconds + roundSeconds);
  const samples = judged(run).filter(({ at }) => at >= from);
  const observed = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
  if (observed < 2 * roundSeconds || samples.length < pointsMin)
    return {
      ...{ name, result: 'short', details: [] },
      text: `Not judged: that needs ${Math.round((from + 2 * roundSeconds) / 60)} minutes, a day of the servers and three rounds of the worker.`,
    };
  const details: string[] = [];
  let isLevel = true;
  for (const table of [...retentionTables, ...queueTables]) {
    const points = samples.flatMap(({ at, tables }) => {
      const found = tables.find((one) => one.name === table);
      return found ? [{ x: at, y: found.bytes }] : [];
    });
    if (points.length < pointsMin) continue;
    const middle = median(points.map(({ y }) => y));
    const grown = slope(points) * observed;
    const max = Math.max(middle * levelShareMax, levelBytesMin);
    if (grown > max) isLevel = false;
    details.push(
      `${table}: ${(middle / megabyte).toFixed(1)} MB, ${signed(grown / megabyte)} MB in ${Math.round(observed / 60)} minutes${grown > max ? `, limit ${(max / megabyte).toFixed(1)}` : ''}`,
    );
  }
  return {
    ...{ name, result: isLevel ? 'passed' : 'failed', details },
    text: `Each table may grow by ${levelShareMax * 100} % (at least ${levelBytesMin / megabyte} MB) after the first day of the servers.`,
  };
}

/** The p99 of the last third against the first third; the medians leave out the minutes of disturbances. */
function responsive(run: Run): Verdict {
  const name = 'Response times do not grow';
  const samples = judged(run);
  const observed = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
  if (observed < observedSecondsMin || samples.length < 2 * pointsMin)
    return {
      ...{ name, result: 'short', details: [] },
      text: `Not judged: that needs ${observedSecondsMin / 60} minutes after the warm-up.`,
    };
  const kinds = [...new Set(samples.flatMap(({ latencies }) => latencies.map(({ kind }) => kind)))];
  const details: string[] = [];
  let isFlat = true;
  for (const kind of kinds) {
    const values = samples.flatMap(({ latencies }) => {
      const found = latencies.find((one) => one.kind === kind);
      return found ? [found.p99Ms] : [];
    });
    const third = Math.floor(values.length / 3);
    if (third < 3) continue;
    const first = median(values.slice(0, third));
    const last = median(values.slice(-third));
    const isSlower = last > Math.max(first * latencyGrowthMax, first + latencyMsMin);
    if (isSlower && isJudgedKind(kind)) isFlat = false;
    details.push(
      `${kind}: median p99 ${first.toFixed(0)} ms in the first third, ${last.toFixed(0)} ms in the last${isJudgedKind(kind) ? '' : ' (not judged: few requests)'}`,
    );
  }
  return {
    ...{ name, result: isFlat ? 'passed' : 'failed', details },
    text: `The median p99 of the last third is at most ${latencyGrowthMax} times that of the first, or ${latencyMsMin} ms more.`,
  };
}

/** Kinds with a handful of requests per minute have a p99 that is their maximum. */
function isJudgedKind(kind: string): boolean {
  return kind !== 'organizations';
}

/** A run of seconds does not wait for the minute in which rows of a killed node are sealed. */
export const sealMinutesMin = 2;

/** What waits, by name. */
export function backlogOf(
  { unsealedRows, ...backlog }: BacklogSample,
  { minutes }: Pick<Run, 'minutes'>,
): readonly (readonly [what: string, count: number])[] {
  const counted = minutes < sealMinutesMin ? backlog : { ...backlog, unsealedRows };
  return Object.entries(counted).filter(([, count]) => count !== 0);
}

function drained(run: Run): Verdict {
  const last = run.samples.at(-1)?.backlog;
  const rest = last ? backlogOf(last, run) : [];
  return {
    name: 'The backlog drains',
    result: last && rest.length === 0 ? 'passed' : 'failed',
    text: 'After the traffic has stopped: waiting commands, due deliveries, overdue timers and unsealed audit rows.',
    details: last ? rest.map(([what, count]) => `${what}: ${count}`) : ['no node answered'],
  };
}

function noExit({ marks }: Run): Verdict {
  const exits = marks.filter(({ kind }) => kind === 'exit');
  return {
    name: 'No process ended by itself',
    result: exits.length === 0 ? 'passed' : 'failed',
    text: 'Every end of a server process was a planned kill.',
    details: exits.map(({ at, text }) => `minute ${(at / 60).toFixed(1)}: ${text}`),
  };
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}
