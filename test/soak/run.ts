/** The record of one soak on one database: raw samples, from which verdicts and report are computed. It is stored as JSON. */
export const formatVersion = 1;

export interface Run {
  readonly format: typeof formatVersion;
  readonly database: string;
  /** Of the machine, without the offset of the server clocks. */
  readonly startedAt: string;
  readonly commit: string;
  readonly version: string;
  readonly machine: readonly Field[];
  readonly parameters: readonly Field[];
  readonly seed: number;
  readonly minutes: number;
  readonly warmUpSeconds: number;
  readonly sampleSeconds: number;
  /** How many seconds of traffic the servers see as one day. */
  readonly daySeconds: number;
  readonly marks: readonly Mark[];
  readonly samples: readonly Sample[];
  readonly audits: readonly Audit[];
  readonly totals: readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly value: string;
}

export type Disturbance = 'kill' | 'exit' | 'cut' | 'freeze' | 'restart' | 'jump';

export interface Mark {
  /** Seconds since the start of the traffic. */
  readonly at: number;
  readonly kind: Disturbance;
  readonly text: string;
}

/** A check of the data after the run; without findings it passed. */
export interface Audit {
  readonly name: string;
  /** What was compared, with numbers. */
  readonly text: string;
  readonly findings: readonly string[];
}

export interface NodeSample {
  readonly name: string;
  /** Counts the starts of the node: samples of one life belong to one process. */
  readonly life: number;
  readonly uptimeSeconds: number;
  /** This and the next four are the least of the interval. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  /** Null where the system does not list them. */
  readonly handles: number | null;
  readonly sockets: number | null;
  readonly lagSeconds: number;
  /** Processor time divided by time. */
  readonly processorShare: number;
}

export interface TableSample {
  readonly name: string;
  /** With indexes. */
  readonly bytes: number;
  /** Null where the database cannot be queried while the server runs. */
  readonly rows: number | null;
  readonly deadRows: number | null;
}

export interface LatencySample {
  readonly kind: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface BacklogSample {
  readonly queue: number;
  readonly deliveriesDue: number;
  readonly timersOverdue: number;
  readonly unsealedRows: number;
}

export interface Sample {
  readonly at: number;
  readonly nodes: readonly NodeSample[];
  readonly tables: readonly TableSample[];
  readonly databaseBytes: number;
  readonly walBytes: number;
  readonly latencies: readonly LatencySample[];
  /** Null while no node answers. */
  readonly backlog: BacklogSample | null;
  /** Responses with 502 or 503. */
  readonly unavailable: number;
  /** Requests whose connection broke. */
  readonly lost: number;
  /** Requests that were not sent because too many were in flight. */
  readonly skipped: number;
  /** Payments that were created so far, in all organizations. */
  readonly payments: number;
  readonly machineShare: number;
}
