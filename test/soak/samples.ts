/** Samples of the server processes, their metrics and the machine. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import type { Cluster, Node } from './cluster.ts';
import type { BacklogSample, NodeSample } from './run.ts';

interface Reading {
  readonly life: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly handles: number | null;
  readonly sockets: number | null;
  readonly lagSeconds: number;
  readonly processorSeconds: number;
  readonly readAt: number;
}

const scrapeMsMax = 5_000;

/** Reads each node several times in an interval, and combines the readings. */
export class NodeSampler {
  readonly #cluster: Cluster;
  #readings = new Map<Node, Reading[]>();
  #backlog: BacklogSample | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** A node that is down or frozen is left out. */
  async read(): Promise<BacklogSample | null> {
    this.#backlog = null;
    await Promise.all(
      this.#cluster.nodes.map(async (node) => {
        const metrics = await scrape(node);
        if (metrics) this.#add(node, metrics);
      }),
    );
    return this.#backlog;
  }

  /** The combination of the readings since the last call. */
  take(): { readonly nodes: readonly NodeSample[]; readonly backlog: BacklogSample | null } {
    const nodes = this.#cluster.nodes.flatMap((node) => {
      const all = this.#readings.get(node) ?? [];
      const life = all.at(-1)?.life;
      const readings = all.filter((reading) => reading.life === life);
      return readings.length === 0 ? [] : [combine(node, readings)];
    });
    // The last reading begins the next interval, for the share of the processor.
    this.#readings = new Map([...this.#readings].map(([node, readings]) => [node, readings.slice(-1)]));
    return { nodes, backlog: this.#backlog };
  }

  #add(node: Node, metrics: ReadonlyMap<string, number>): void {
    const pid = node.process?.pid ?? 0;
    const value = (name: string) => metrics.get(name) ?? Number.NaN;
    const links = handlesOf(pid, this.#cluster.dataDirectory);
    const reading: Reading = {
      life: node.life,
      residentBytes: value('process_resident_memory_bytes'),
      heapBytes: value('nodejs_heap_size_used_bytes'),
      externalBytes: value('nodejs_external_memory_bytes'),
      handles: links?.length ?? null,
      sockets: links?.filter((link) => link.startsWith('socket:')).length ?? null,
      lagSeconds: value('nodejs_eventloop_lag_p99_seconds'),
      processorSeconds: value('process_cpu_seconds_total'),
      readAt: performance.now(),
    };
    this.#readings.set(node, [...(this.#readings.get(node) ?? []), reading]);
    const queue = value('sandbank_engine_queue_length') + (this.#backlog?.queue ?? 0);
    // A node whose database does not answer in time leaves these out.
    if (!metrics.has('sandbank_delivery_due')) return;
    this.#backlog = {
      queue,
      deliveriesDue: value('sandbank_delivery_due'),
      timersOverdue: value('sandbank_timers_overdue'),
      unsealedRows: value('sandbank_audit_unsealed_rows'),
    };
  }
}

function combine(node: Node, readings: readonly Reading[]): NodeSample {
  const largest = (of: (reading: Reading) => number) => Math.max(...readings.map(of));
  // A leak raises the least value too; a peak is not a leak.
  const least = (of: (reading: Reading) => number) => Math.min(...readings.map(of));
  const listed = readings.filter(({ handles }) => handles !== null);
  const first = readings[0];
  const last = readings.at(-1);
  const seconds = ((last?.readAt ?? 0) - (first?.readAt ?? 0)) / 1_000;
  const used = (last?.processorSeconds ?? 0) - (first?.processorSeconds ?? 0);
  return {
    name: node.name,
    life: node.life,
    uptimeSeconds: Math.round((performance.now() - node.startedAt) / 1_000),
    residentBytes: least(({ residentBytes }) => residentBytes),
    heapBytes: least(({ heapBytes }) => heapBytes),
    externalBytes: least(({ externalBytes }) => externalBytes),
    handles: listed.length === 0 ? null : least(({ handles }) => handles ?? Number.POSITIVE_INFINITY),
    sockets: listed.length === 0 ? null : least(({ sockets }) => sockets ?? Number.POSITIVE_INFINITY),
    lagSeconds: largest(({ lagSeconds }) => lagSeconds),
    processorShare: seconds > 0 ? used / seconds : 0,
  };
}

async function scrape({ process: scraped }: Node): Promise<ReadonlyMap<string, number> | undefined> {
  if (!scraped) return undefined;
  try {
    const response = await fetch(`${scraped.url}/metrics`, { signal: AbortSignal.timeout(scrapeMsMax) });
    if (response.status !== 200) return undefined;
    const values = new Map<string, number>();
    for (const [, name = '', value] of (await response.text()).matchAll(/^(\w+) (\S+)$/gm))
      values.set(name, Number(value));
    return values;
  } catch {
    return undefined;
  }
}

/**
 * What the open handles of a process refer to; null where the system does not list them. Without the files of the embedded database, which
 * opens each of its tables and indexes when it first uses it: a file that is open twice counts once.
 */
function handlesOf(pid: number, dataDirectory: string): readonly string[] | null {
  const folder = `/proc/${pid}/fd`;
  const databaseFiles = new Set<string>();
  try {
    return readdirSync(folder).flatMap((handle) => {
      try {
        const link = readlinkSync(`${folder}/${handle}`);
        const isFirst = link.startsWith(`${dataDirectory}${path.sep}`) && !databaseFiles.has(link);
        if (isFirst && !link.endsWith(' (deleted)')) {
          databaseFiles.add(link);
          return [];
        }
        return [link];
      } catch {
        return [''];
      }
    });
  } catch {
    return null;
  }
}

/** The share of all processors that was busy since the last call. */
export class MachineSampler {
  #last = processorTimes();

  take(): number {
    const now = processorTimes();
    const busy = now.busy - this.#last.busy;
    const total = busy + now.idle - this.#last.idle;
    this.#last = now;
    return total > 0 ? busy / total : 0;
  }
}

function processorTimes(): { readonly busy: number; readonly idle: number } {
  const times = cpus().map(({ times: one }) => one);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  return { idle, busy: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0) };
}

export function machineText(): string {
  const { version } = process;
  const memory = /MemTotal:\s+(\d+)/.exec(safeRead('/proc/meminfo'))?.[1];
  const gigabytes = memory === undefined ? '' : `, ${Math.round(Number(memory) / 1_048_576)} GB of memory`;
  return `${cpus().length} cores (${cpus()[0]?.model.trim() || 'unknown'})${gigabytes}, Node ${version.slice(1)}`;
}

function safeRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
