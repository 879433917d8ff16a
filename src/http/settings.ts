import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import type { Reader, Route, WriteBehindData } from '../kernel/route.ts';
import type { CoverageSink } from '../resources/coverage/table.ts';
import type { RequestSink } from '../resources/requests/table.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestTracing } from '../telemetry/ports.ts';
import type { EventStreams } from './event-stream.ts';
import type { Patience } from './http-server.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RequestQueueSettings } from './request-queue.ts';

/** What the HTTP modules share. The console and the operator API have their own settings beside these. */
export interface HttpSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  /** None when this node serves no API but only works. */
  readonly routes: readonly Route[];
  /** The address under which callers know this server, without a slash at its end. */
  readonly publicUrl: () => string;
  /** Networks of the proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  /** Names and addresses that may be in the Host header besides the public URL's and loopback. */
  readonly allowedHosts: readonly string[];
  /** Where `docUrl` of an error points: an address, or a path on this server. */
  readonly docsUrl: () => string;
  readonly rateLimiter: RateLimiter | undefined;
  readonly metrics: Metrics | undefined;
  readonly tracing?: RequestTracing | undefined;
  /** Where answered requests are left; undefined where nobody reads them. */
  readonly requestLog: RequestSink | undefined;
  /** Where it is noted which operations and errors keys have met. */
  readonly coverage: CoverageSink | undefined;
  /** Each writes what is gathered so far, for who reads it. */
  readonly writtenBehind: Readonly<Record<WriteBehindData, () => Promise<void>>>;
  readonly streams: EventStreams;
  /** Whether the node can serve; a sentence says why not. */
  readonly readiness: () => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>;
  /** Commands that take several transactions, by name: each is carried out from its first to its last. */
  readonly errands: ReadonlyMap<string, (submission: Submission) => Promise<Answer>>;
  /** Counts the requests that fault plans may hit. */
  readonly faults: FaultCounter;
  /** Where the build has put the docs. */
  readonly docs: URL;
  /** The JSON Schema of seed files, for editors. */
  readonly seedSchema: object;
  readonly logLevel: string;
  readonly wallClock: () => number;
  /** For what is kept or limited for a while: it goes on also where the wall clock stands. */
  readonly uptime: () => number;
  /** How long clients are waited for, and what they may have unanswered; as on a real server by default. */
  readonly patience?: Patience;
  readonly requestQueue?: RequestQueueSettings;
}
