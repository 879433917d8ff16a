import { Allowance } from '../engine/allowance.ts';
import type { RequestBatch, RequestJournal } from '../engine/request-journal.ts';
import { idTimestamp } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { redactBody, redactLine } from '../resources/requests/redact.ts';
import {
  bucketNames,
  bucketOf,
  type CountedRequest,
  type KeyUseRow,
  type MinuteRow,
  type RequestRow,
  type RequestSink,
  type StoredRequest,
} from '../resources/requests/table.ts';
import type { RequestLogMeasures } from '../telemetry/ports.ts';
import { WriteBehind } from './write-behind.ts';

export interface RequestLogSettings {
  readonly journal: Pick<RequestJournal, 'write'>;
  readonly wallClock: () => Instant;
  readonly uptime: () => number;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: RequestLogMeasures | undefined;
  /** How many requests a second are kept, and how many at once. */
  readonly keptPerSecond?: number;
  readonly keptAtOnceMax?: number;
}

/** What is counted since the last flush, in place. */
type Counting = { -readonly [P in keyof MinuteRow]: MinuteRow[P] };
type Using = { -readonly [P in keyof KeyUseRow]: KeyUseRow[P] };

const keptPerSecondDefault = 500;
// A test suite of some thousand requests is kept whole. With 5,000 a third of the creates of a full load were kept, each with two bodies.
const keptAtOnceMaxDefault = 2_000;
const flushMs = 250;
const rowsInFlushMax = 500;
const rowsMax = 10_000;
// Bodies are held as they came until they are written: a hundred thousand long lists would be more than a node has.
const charsMax = 16 * 1_024 * 1_024;
const countersMax = 10_000;
const lineLengthMax = 500;
const minuteMs = 60_000;

/** The key was known, but it was not good for the request. */
const unused: ReadonlySet<string | null> = new Set(['api_key_revoked', 'api_key_expired', 'ip_not_allowed']);

/**
 * Keeps what was asked and answered: a request leaves its mark in memory, and is written behind the answers.
 *
 * The log never holds up a request, and its memory has a bound. Above the allowance only refused requests are kept, from an
 * allowance of their own, and above that requests are counted and no more.
 */
export class RequestLog implements RequestSink {
  readonly #settings: RequestLogSettings;
  readonly #all: Allowance;
  readonly #refused: Allowance;
  readonly #behind: WriteBehind<RequestBatch>;
  #rows: StoredRequest[] = [];
  #chars = 0;
  #minutes = new Map<string, Counting>();
  #keyUses = new Map<string, Using>();

  constructor(settings: RequestLogSettings) {
    this.#settings = settings;
    const { keptPerSecond = keptPerSecondDefault, keptAtOnceMax = keptAtOnceMaxDefault } = settings;
    this.#all = new Allowance(keptPerSecond, keptAtOnceMax);
    this.#refused = new Allowance(keptPerSecond, keptAtOnceMax);
    const { journal, onError, measures } = settings;
    this.#behind = new WriteBehind({
      everyMs: flushMs,
      isEmpty: () => this.#isEmpty(),
      isFull: () => this.#rows.length >= rowsInFlushMax,
      take: () => this.#take(),
      write: (batch) => journal.write(batch),
      onLost: ({ requests }) => measures?.dropped(requests.length),
      writesMax: rowsMax / rowsInFlushMax,
      onError,
      problem: 'the request log cannot be written',
    });
  }

  count({ principal, status, errorCode, elapsedMs, ip }: CountedRequest): boolean {
    const now = this.#settings.wallClock();
    const { actor } = principal;
    if (actor.kind === 'api_key' && !unused.has(errorCode)) this.#use(principal.orgId, actor.id, now, ip);
    const elapsed = this.#settings.uptime();
    const isKept =
      this.#rows.length < rowsMax &&
      (this.#all.take(elapsed) || (errorCode !== null && this.#refused.take(elapsed)));
    const minute = this.#minute(principal.orgId, principal.appId, now - (now % minuteMs));
    if (minute) {
      const bucket = bucketNames[bucketOf(elapsedMs * 1_000)];
      minute.requests += 1;
      if (status >= 500) minute.serverErrors += 1;
      else if (status >= 400) minute.clientErrors += 1;
      if (!isKept) minute.notKept += 1;
      if (bucket) minute[bucket] += 1;
    }
    if (!isKept) this.#settings.measures?.dropped(1);
    this.#behind.stir();
    return isKept;
  }

  keep(request: StoredRequest): void {
    const chars = (request.sent?.length ?? 0) + (request.answered?.length ?? 0);
    const hasRoom = this.#chars + chars <= charsMax;
    if (hasRoom) this.#chars += chars;
    this.#rows.push(hasRoom ? request : { ...request, sent: null, answered: null });
    this.#behind.stir();
  }

  get waiting(): number {
    return this.#rows.length;
  }

  flush(): Promise<void> {
    return this.#behind.flush();
  }

  close(): Promise<void> {
    return this.#behind.close();
  }

  #isEmpty(): boolean {
    return this.#rows.length === 0 && this.#minutes.size === 0 && this.#keyUses.size === 0;
  }

  #take(): RequestBatch {
    const kept = this.#rows.splice(0, rowsInFlushMax);
    for (const { sent, answered } of kept) this.#chars -= (sent?.length ?? 0) + (answered?.length ?? 0);
    const [minutes, keyUses] = [[...this.#minutes.values()], [...this.#keyUses.values()]];
    this.#minutes = new Map();
    this.#keyUses = new Map();
    return { requests: kept.map(toRow), minutes, keyUses };
  }

  #minute(orgId: string, appId: string, minute: Instant): Counting | undefined {
    const key = `${orgId} ${appId} ${minute}`;
    let counting = this.#minutes.get(key);
    if (!counting && this.#minutes.size < countersMax) {
      counting = { orgId, appId, minute, ...nothing };
      this.#minutes.set(key, counting);
    }
    return counting;
  }

  #use(orgId: string, id: string, lastUsedAt: Instant, lastUsedIp: string): void {
    const using = this.#keyUses.get(id);
    if (using) {
      using.lastUsedAt = lastUsedAt;
      using.lastUsedIp = lastUsedIp;
    } else if (this.#keyUses.size < countersMax) {
      this.#keyUses.set(id, { orgId, id, lastUsedAt, lastUsedIp });
    }
  }
}

const nothing: Omit<MinuteRow, 'orgId' | 'appId' | 'minute'> = {
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  notKept: 0,
  us500: 0,
  ms1: 0,
  ms2: 0,
  ms5: 0,
  ms10: 0,
  ms20: 0,
  ms50: 0,
  ms100: 0,
  ms200: 0,
  ms500: 0,
  s1: 0,
  s5: 0,
  beyond: 0,
};

function toRow(request: StoredRequest): RequestRow {
  const { principal, id, url } = request;
  const mark = url.indexOf('?');
  const [path, query] = mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
  const { sent, answered, idempotencyKey } = request;
  return {
    orgId: principal.orgId,
    id,
    appId: principal.appId,
    at: idTimestamp(id),
    method: request.method,
    path: redactLine(path, lineLengthMax),
    query: query === '' ? null : redactLine(query, lineLengthMax),
    route: request.route,
    httpStatus: request.status,
    durationUs: Math.round(request.elapsedMs * 1_000),
    errorCode: request.errorCode,
    actorKind: principal.actor.kind,
    actorId: principal.actor.id,
    ip: request.ip,
    idempotencyKey: idempotencyKey === '' ? null : redactLine(idempotencyKey, lineLengthMax),
    isReplay: request.isReplay,
    requestBody: sent === null ? null : redactBody(sent),
    responseBody: answered === null ? null : redactBody(answered, 'response'),
    faultPlanId: request.faultPlanId,
  };
}
