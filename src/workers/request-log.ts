import type { RequestCounts, RequestJournal } from '../engine/request-journal.ts';
import { type Id, idTimestamp } from '../kernel/ids.ts';
import type { Principal } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';
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
  readonly journal: Pick<RequestJournal, 'write' | 'count'>;
  readonly wallClock: () => Instant;
  readonly uptime: () => number;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: RequestLogMeasures | undefined;
  /** Stored requests: rate per second and burst. */
  readonly storedPerSecond?: number;
  readonly storedBurstMax?: number;
}

/** Mutable counters since the last flush. */
type MinuteCounts = { -readonly [P in keyof MinuteRow]: MinuteRow[P] };
type KeyUse = { -readonly [P in keyof KeyUseRow]: KeyUseRow[P] };

const storedPerSecondDefault = 500;
// Stores a test suite of a few thousand requests completely. With 5,000, a third of the creates under full load were stored, each with two bodies.
const storedBurstMaxDefault = 2_000;
const flushMs = 250;
// A row for each application and each key that is in use: 400 keys cost 3,200 rows a second when they were written every 250 ms.
const countMs = 5_000;
// Redacting and encoding a row takes about 15 µs, and requests wait meanwhile.
const rowsInFlushMax = 100;
const rowsMax = 10_000;
// Bodies stay in memory until they are written: a hundred thousand long lists would exceed a node's memory.
const charsMax = 16 * 1_024 * 1_024;
// 500 lists of 16 KB per second are expensive to redact, send and compress, and nobody reads them.
const longChars = 2_048;
const longCharsPerSecond = 512 * 1_024;
const longCharsBurst = 4 * 1_024 * 1_024;
const countersMax = 10_000;
const lineLengthMax = 500;

/** Error codes for which the key is known, but was not accepted. */
const keyRejections: ReadonlySet<string | null> = new Set([
  'api_key_revoked',
  'api_key_expired',
  'ip_not_allowed',
]);

/**
 * Stores requests and their responses. They are collected in memory and written after the response was sent.
 *
 * The log never delays a request, and its memory is bounded. A token bucket limits how many requests are stored. When it is empty
 * only refused requests are stored, from a second bucket; when that is empty too, requests are only counted.
 */
export class RequestLog implements RequestSink {
  readonly #settings: RequestLogSettings;
  readonly #all: TokenBucket;
  readonly #refused: TokenBucket;
  readonly #longResponses = new TokenBucket(longCharsPerSecond, longCharsBurst);
  readonly #rowWriter: WriteBehind<readonly RequestRow[]>;
  readonly #countWriter: WriteBehind<RequestCounts>;
  #rows: StoredRequest[] = [];
  #chars = 0;
  #minutes = new Map<string, MinuteCounts>();
  /** The counters of the last request of each caller, found without building their key. */
  #latest = new WeakMap<Principal, MinuteCounts>();
  #keyUses = new Map<string, KeyUse>();

  constructor(settings: RequestLogSettings) {
    this.#settings = settings;
    const { storedPerSecond = storedPerSecondDefault, storedBurstMax = storedBurstMaxDefault } = settings;
    this.#all = new TokenBucket(storedPerSecond, storedBurstMax);
    this.#refused = new TokenBucket(storedPerSecond, storedBurstMax);
    const { journal, onError, measures } = settings;

    this.#rowWriter = new WriteBehind({
      everyMs: flushMs,
      isEmpty: () => this.#rows.length === 0,
      isFull: () => this.#rows.length >= rowsInFlushMax,
      take: () => this.#takeRows(),
      write: (rows) => journal.write(rows),
      isRepeatable: true,
      onLost: (rows) => measures?.dropped(rows.length),
      writesMax: rowsMax / rowsInFlushMax,
      onError,
      problem: 'the request log cannot be written',
    });
    this.#countWriter = new WriteBehind({
      everyMs: countMs,
      isEmpty: () => this.#minutes.size === 0 && this.#keyUses.size === 0,
      isFull: () => this.#minutes.size >= countersMax || this.#keyUses.size >= countersMax,
      take: () => this.#takeCounts(),
      write: (counts) => journal.count(counts),
      writesMax: 1,
      onError,
      problem: 'the request counts cannot be written',
    });
  }

  count({ principal, status, errorCode, elapsedMs, ip }: CountedRequest): boolean {
    const now = this.#settings.wallClock();
    const { actor } = principal;
    if (actor.kind === 'api_key' && !keyRejections.has(errorCode))
      this.#use(principal.orgId, actor.id, now, ip);
    const elapsed = this.#settings.uptime();
    const isStored =
      this.#rows.length < rowsMax &&
      (this.#all.take(elapsed) || (errorCode !== null && this.#refused.take(elapsed)));
    const minute = this.#minute(principal, now - (now % minuteMs));
    if (minute) {
      const bucket = bucketNames[bucketOf(elapsedMs * 1_000)];
      minute.requests += 1;
      if (status >= 500) minute.serverErrors += 1;
      else if (status >= 400) minute.clientErrors += 1;
      if (!isStored) minute.notKept += 1;
      if (bucket) minute[bucket] += 1;
    }
    if (!isStored) this.#settings.measures?.dropped(1);
    this.#countWriter.schedule();
    return isStored;
  }

  store(answered: StoredRequest): void {
    const request = this.#withShortResponse(answered);
    const chars = bodyChars(request);
    const hasRoom = this.#chars + chars <= charsMax;
    if (hasRoom) this.#chars += chars;
    this.#rows.push(hasRoom ? request : { ...request, requestBody: null, responseBody: null });
    this.#rowWriter.schedule();
  }

  /** Long responses are stored completely up to a rate, above it only their beginning. */
  #withShortResponse(request: StoredRequest): StoredRequest {
    const { responseBody } = request;
    if (responseBody === null || responseBody.length <= longChars) return request;
    if (this.#longResponses.take(this.#settings.uptime(), responseBody.length)) return request;
    return { ...request, responseBody: responseBody.slice(0, longChars) };
  }

  get waiting(): number {
    return this.#rows.length;
  }

  async flush(): Promise<void> {
    await Promise.all([this.#rowWriter.flush(), this.#countWriter.flush()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#rowWriter.close(), this.#countWriter.close()]);
  }

  #takeRows(): readonly RequestRow[] {
    const batch = this.#rows.splice(0, rowsInFlushMax);
    for (const request of batch) this.#chars -= bodyChars(request);
    return batch.map(toRow);
  }

  #takeCounts(): RequestCounts {
    const counts = { minutes: [...this.#minutes.values()], keyUses: [...this.#keyUses.values()] };
    this.#minutes = new Map();
    this.#latest = new WeakMap();
    this.#keyUses = new Map();
    return counts;
  }

  #minute(principal: Principal, minute: Instant): MinuteCounts | undefined {
    const latest = this.#latest.get(principal);
    if (latest?.minute === minute) return latest;
    const { orgId, appId } = principal;
    const key = `${orgId} ${appId} ${minute}`;
    let counts = this.#minutes.get(key);
    if (!counts && this.#minutes.size < countersMax) {
      counts = { orgId, appId, minute, ...zeroCounts };
      this.#minutes.set(key, counts);
    }
    if (counts) this.#latest.set(principal, counts);
    return counts;
  }

  #use(orgId: Id<'organization'>, id: Id<'api_key'>, lastUsedAt: Instant, lastUsedIp: string): void {
    const use = this.#keyUses.get(id);
    if (use) {
      use.lastUsedAt = lastUsedAt;
      use.lastUsedIp = lastUsedIp;
    } else if (this.#keyUses.size < countersMax) {
      this.#keyUses.set(id, { orgId, id, lastUsedAt, lastUsedIp });
    }
  }
}

const zeroCounts: Omit<MinuteRow, 'orgId' | 'appId' | 'minute'> = {
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

function bodyChars({ requestBody, responseBody }: StoredRequest): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
}

function toRow(request: StoredRequest): RequestRow {
  const { principal, id, url } = request;
  const mark = url.indexOf('?');
  const [path, query] = mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
  const { requestBody, responseBody, idempotencyKey } = request;
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
    requestBody: requestBody === null ? null : redactBody(requestBody),
    responseBody: responseBody === null ? null : redactBody(responseBody, 'response'),
    faultPlanId: request.faultPlanId,
  };
}
