/** Which plots a report has, from the samples of a run. */
import type { Plot, Series } from './plot.ts';
import type { NodeSample, Run, Sample } from './run.ts';
import { queueTables, retentionTables } from './verdicts.ts';

const megabyte = 1024 * 1024;
const kilobyte = 1024;
const seriesMax = 6;
const linesOf: readonly string[] = ['kill', 'restart', 'exit'];
const latencyKinds: readonly string[] = ['write', 'read', 'list', 'search', 'replay', 'console'];

export function plotsOf(run: Run, prefix: string): readonly Plot[] {
  const samples = run.samples.filter(({ at }) => at <= run.minutes * 60 + run.sampleSeconds / 2);
  const common = {
    minutes: samples.map(({ at }) => at / 60),
    minutesMax: run.minutes,
    lines: run.marks.filter(({ kind }) => linesOf.includes(kind)).map(({ at }) => at / 60),
    warmUp: run.warmUpSeconds / 60,
  };
  const plot = (id: string, rest: Pick<Plot, 'title' | 'text' | 'unit' | 'series' | 'scale'>): Plot => ({
    ...{ ...common, ...rest },
    id: `${prefix}-${id}`,
  });
  const all: readonly Plot[] = [
    plot('memory', {
      ...{
        title: 'Memory',
        unit: 'MB',
        series: perNode(samples, ({ residentBytes }) => residentBytes / megabyte),
      },
      text: 'Resident memory of each process, the least reading of each interval. A line breaks where a process was replaced.',
    }),
    plot('heap', {
      ...{
        title: 'JavaScript heap',
        unit: 'MB',
        series: perNode(samples, ({ heapBytes }) => heapBytes / megabyte),
      },
      text: 'The least reading of each interval. A full garbage collection runs every 30 seconds, so this is close to what the process retains.',
    }),
    plot('handles', {
      ...{ title: 'Open handles', unit: 'handles', series: handles(samples) },
      text: 'File descriptors without the files of the embedded database, and of those, sockets: clients, receivers, database connections. The least reading of each interval.',
    }),
    ...(['p99Ms', 'p50Ms'] as const).map((which) =>
      plot(which, {
        ...{ title: `Response times, ${which.slice(0, 3)}`, unit: 'ms', scale: 'log' as const },
        series: latencyKinds.map((kind) => ({
          name: kind,
          values: samples.map(({ latencies }) => latencies.find((one) => one.kind === kind)?.[which] ?? null),
        })),
        text: 'As clients measured them, through the load balancer. The axis is logarithmic.',
      }),
    ),
    plot('requests', {
      ...{ title: 'Requests', unit: 'per second', series: requests(samples) },
      text: 'Final responses, and attempts that failed because of a disturbance and were sent again.',
    }),
    plot('backlog', {
      ...{ title: 'Backlog', unit: 'rows', scale: 'log', series: backlog(samples) },
      text: 'What is due and not done, at the moment of the sample. The axis is logarithmic.',
    }),
    plot('retention', {
      ...{
        title: 'Tables with retention',
        unit: 'MB',
        series: largestTables(samples, [...retentionTables, ...queueTables]),
      },
      text: 'With indexes. They grow for a day of the servers, and must level off then.',
    }),
    plot('design', {
      ...{ title: 'Tables that grow by design', unit: 'kB per payment', series: perPayment(samples) },
      text: 'Records, history and audit trail are retained until an organization is reset or deleted.',
    }),
    plot('database', {
      ...{ title: 'Database', unit: 'MB' },
      series: [
        { name: 'data', values: samples.map(({ databaseBytes }) => databaseBytes / megabyte) },
        { name: 'WAL', values: samples.map(({ walBytes }) => walBytes / megabyte) },
      ],
      text: 'The size of the database with all tables and indexes, and of its write-ahead log.',
    }),
    plot('processor', {
      ...{ title: 'Processor time', unit: '%', series: processor(samples) },
      text: 'Of each process, where 100 % is one core; and of the whole machine, where 100 % is all cores.',
    }),
    plot('dead', {
      ...{ title: 'Dead rows', unit: 'rows', scale: 'log', series: deadRows(samples) },
      text: 'Rows that were changed or deleted and not yet vacuumed, as PostgreSQL counts them.',
    }),
  ];
  return all.filter(({ series }) => series.some(({ values }) => values.some((value) => value !== null)));
}

/** A line of each node, broken where the process changed. */
function perNode(
  samples: readonly Sample[],
  measure: (node: NodeSample) => number | null,
): readonly Series[] {
  const names = [...new Set(samples.flatMap(({ nodes }) => nodes.map(({ name }) => name)))].sort();
  return names.map((name) => ({
    name,
    values: samples.map(({ nodes }, i) => {
      const node = nodes.find((one) => one.name === name);
      const before = samples[i - 1]?.nodes.find((one) => one.name === name);
      if (!node || (before && before.life !== node.life)) return null;
      return measure(node);
    }),
  }));
}

function handles(samples: readonly Sample[]): readonly Series[] {
  const named = (suffix: string, series: readonly Series[]) =>
    series.map(({ name, values }) => ({ name: `${name}${suffix}`, values }));
  return [
    ...named(
      '',
      perNode(samples, ({ handles: open }) => open),
    ),
    ...named(
      ', sockets',
      perNode(samples, ({ sockets }) => sockets),
    ),
  ];
}

function requests(samples: readonly Sample[]): readonly Series[] {
  const perSecond = (count: (sample: Sample) => number) =>
    samples.map((sample, i) => count(sample) / (sample.at - (samples[i - 1]?.at ?? 0)));
  return [
    {
      name: 'responses',
      values: perSecond(({ latencies }) => latencies.reduce((sum, { count }) => sum + count, 0)),
    },
    { name: 'sent again', values: perSecond(({ unavailable, lost }) => unavailable + lost) },
    { name: 'not sent, because of 64 in flight', values: perSecond(({ skipped }) => skipped) },
  ];
}

function backlog(samples: readonly Sample[]): readonly Series[] {
  const names = {
    deliveriesDue: 'deliveries due',
    timersOverdue: 'timers overdue',
    unsealedRows: 'unsealed audit rows',
    queue: 'waiting commands',
  };
  return (Object.keys(names) as (keyof typeof names)[]).map((key) => ({
    name: names[key],
    values: samples.map((sample) => sample.backlog?.[key] ?? null),
  }));
}

function tableValues(samples: readonly Sample[], name: string): readonly number[] {
  return samples.map(({ tables }) => tables.find((one) => one.name === name)?.bytes ?? 0);
}

function largestTables(samples: readonly Sample[], names: readonly string[]): readonly Series[] {
  return names
    .map((name) => ({ name, values: tableValues(samples, name).map((bytes) => bytes / megabyte) }))
    .sort((a, b) => (b.values.at(-1) ?? 0) - (a.values.at(-1) ?? 0))
    .slice(0, seriesMax);
}

function perPayment(samples: readonly Sample[]): readonly Series[] {
  const excluded = [...retentionTables, ...queueTables];
  const names = (samples.at(-1)?.tables ?? [])
    .map(({ name }) => name)
    .filter((name) => !excluded.includes(name));
  return names
    .map((name) => ({
      name,
      // The first payments share the pages of an almost empty table.
      values: tableValues(samples, name).map((bytes, i) => {
        const { payments } = samples[i] as Sample;
        return payments < 200 ? null : bytes / kilobyte / payments;
      }),
    }))
    .sort((a, b) => (b.values.at(-1) ?? 0) - (a.values.at(-1) ?? 0))
    .slice(0, seriesMax);
}

function processor(samples: readonly Sample[]): readonly Series[] {
  return [
    { name: 'machine', values: samples.map(({ machineShare }) => machineShare * 100) },
    ...perNode(samples, ({ processorShare }) => processorShare * 100),
  ];
}

function deadRows(samples: readonly Sample[]): readonly Series[] {
  const names = [...new Set(samples.flatMap(({ tables }) => tables.map(({ name }) => name)))];
  return names
    .map((name) => ({
      name,
      values: samples.map(({ tables }) => tables.find((one) => one.name === name)?.deadRows ?? null),
    }))
    .sort((a, b) => Math.max(...b.values.map(Number)) - Math.max(...a.values.map(Number)))
    .slice(0, seriesMax);
}
