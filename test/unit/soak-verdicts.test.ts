import { describe, expect, test } from 'vitest';
import { reportOf } from '../soak/report.ts';
import { formatVersion, type Run, type Sample } from '../soak/run.ts';
import { median, quantile, slope } from '../soak/statistics.ts';
import { type Verdict, verdictsOf } from '../soak/verdicts.ts';
import { randomFrom } from '../support/seed.ts';

const megabyte = 1024 * 1024;

interface Course {
  /** At a minute of the run. */
  readonly resident?: (minute: number) => number;
  readonly handles?: (minute: number) => number;
  readonly requestsTable?: (minute: number) => number;
  readonly p99?: (minute: number) => number;
  readonly life?: (minute: number) => number;
  /** In minutes. */
  readonly uptime?: (minute: number) => number;
  readonly due?: number;
}

const noise = randomFrom(1);

function sampleOf(minute: number, course: Course): Sample {
  const { resident = () => 200, handles = () => 60, requestsTable = () => 30, p99 = () => 80 } = course;
  const { life = () => 1, uptime = (now) => now, due = 0 } = course;
  return {
    at: minute * 60,
    nodes: [
      {
        ...{ name: 'node 1', life: life(minute), uptimeSeconds: uptime(minute) * 60 },
        // Garbage collection moves the size by some megabytes.
        ...{ residentBytes: (resident(minute) + noise() * 20) * megabyte, heapBytes: 40 * megabyte },
        ...{ externalBytes: 0, handles: handles(minute), sockets: 10, lagSeconds: 0, processorShare: 0.5 },
      },
    ],
    tables: [{ name: 'requests', bytes: requestsTable(minute) * megabyte, rows: null, deadRows: null }],
    ...{
      databaseBytes: 0,
      walBytes: 0,
      unavailable: 0,
      lost: 0,
      skipped: 0,
      payments: minute,
      machineShare: 0.6,
    },
    latencies: [{ kind: 'write', count: 600, p50Ms: 10, p99Ms: p99(minute) }],
    backlog: { queue: 0, deliveriesDue: minute > 60 ? due : 5, timersOverdue: 0, unsealedRows: 0 },
  };
}

/** An hour with a sample each minute, and one after the drain. */
function runOf(course: Course, minutes = 60): Run {
  return {
    ...{
      format: formatVersion,
      database: 'PostgreSQL',
      startedAt: '2026-11-19T10:00:00.000Z',
      commit: 'abc',
    },
    ...{ version: '0.1.0', machine: [], parameters: [], totals: [], seed: 1, minutes },
    ...{ warmUpSeconds: 600, sampleSeconds: 60, daySeconds: 600 },
    marks: [{ at: 90, kind: 'kill', text: 'kill -9 of <node 2>' }],
    samples: Array.from({ length: minutes + 1 }, (_, i) => sampleOf(i + 1, course)),
    audits: [{ name: 'Books', text: 'compared', findings: [] }],
  };
}

const resultOf = (course: Course, name: string, minutes?: number): Verdict['result'] | undefined =>
  verdictsOf(runOf(course, minutes)).find((verdict) => verdict.name === name)?.result;

describe('memory', () => {
  const verdict = 'Memory is flat';
  test('that only varies is flat, also when it grew during the warm-up', () => {
    expect(resultOf({ resident: (minute) => 150 + Math.min(minute, 10) * 8 }, verdict)).toBe('passed');
  });
  test('that grows by a megabyte a minute is not flat', () => {
    expect(resultOf({ resident: (minute) => 200 + minute }, verdict)).toBe('failed');
  });
  test('that a restart resets to its start grows in the life of a process', () => {
    const course = {
      resident: (minute: number) => 200 + (minute % 25) * 3,
      life: (minute: number) => Math.floor(minute / 25),
      uptime: (minute: number) => minute % 25,
    };
    expect(resultOf(course, verdict)).toBe('failed');
  });
  test('of each process has a warm-up', () => {
    const course = {
      resident: (minute: number) => 150 + Math.min(minute % 30, 10) * 8,
      life: (minute: number) => Math.floor(minute / 30),
      uptime: (minute: number) => minute % 30,
    };
    expect(resultOf(course, verdict)).toBe('passed');
    expect(resultOf({ ...course, uptime: (minute) => minute }, verdict)).toBe('failed');
  });
  test('of a short run is not judged', () => {
    expect(resultOf({ resident: (minute) => 200 + minute }, verdict, 12)).toBe('short');
  });
});

test('handles of which one leaks every two minutes are not flat', () => {
  expect(resultOf({}, 'Open handles are flat')).toBe('passed');
  expect(resultOf({ handles: (minute) => 60 + Math.floor(minute / 2) }, 'Open handles are flat')).toBe(
    'failed',
  );
});

test('a table that levels off after its retention is bounded, and one that continues to grow is not', () => {
  const verdict = 'Retention bounds its tables';
  expect(resultOf({ requestsTable: (minute) => Math.min(minute, 20) * 2 }, verdict)).toBe('passed');
  expect(resultOf({ requestsTable: (minute) => minute * 2 }, verdict)).toBe('failed');
});

test('response times may rise during disturbances, and not towards the end', () => {
  const verdict = 'Response times do not grow';
  expect(resultOf({ p99: (minute) => (minute % 6 === 0 ? 4_000 : 80) }, verdict)).toBe('passed');
  expect(resultOf({ p99: (minute) => 80 + minute * 3 }, verdict)).toBe('failed');
});

test('a delivery that stays due fails the run', () => {
  expect(resultOf({}, 'The backlog drains')).toBe('passed');
  expect(resultOf({ due: 1 }, 'The backlog drains')).toBe('failed');
});

test('an audit with findings, and an exit that was not planned, fail the run', () => {
  const run = runOf({});
  const exit = { at: 60, kind: 'exit', text: 'node 1 ended with code 1' } as const;
  const failed = { name: 'Books', text: 'compared', findings: ['a balance is wrong'] };
  const verdicts = verdictsOf({ ...run, marks: [exit], audits: [failed] });
  expect(verdicts.filter(({ result }) => result === 'failed').map(({ details }) => details)).toEqual([
    ['a balance is wrong'],
    ['minute 1.0: node 1 ended with code 1'],
  ]);
});

test('the slope ignores outliers; quantile and median are exact', () => {
  const points = Array.from({ length: 30 }, (_, x) => ({ x, y: x % 7 === 3 ? 500 : 2 * x }));
  expect(slope(points)).toBeCloseTo(2, 0);
  expect(slope([])).toBe(0);
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect([quantile(values, 0.5), quantile(values, 0.99), median(values), median([3, 1, 2])]).toEqual([
    50, 99, 50.5, 2,
  ]);
});

test('the report is one page with every verdict, plot and number, without scripts, styles of elements or other files', () => {
  const page = reportOf([runOf({}), runOf({ due: 3 })]);
  expect(page).not.toMatch(/<script|\sstyle="|\ssrc=|<link|url\(|http/);
  expect(page).toContain('1 of 16 checks failed');
  expect(page).toContain('kill -9 of &lt;node 2&gt;');
  const plots = page.match(/<svg [^>]*role="img"/g) ?? [];
  expect(page.match(/<title id="/g)).toHaveLength(plots.length);
  expect(page.match(/<desc id="/g)).toHaveLength(plots.length);
  expect(page.match(/<summary>Numbers/g)).toHaveLength(plots.length - 2);
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
