import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import type { Ports } from '../kernel/prepare.ts';
import type { Route, WriteBehindData } from '../kernel/route.ts';
import type { Reader } from '../kernel/table.ts';
import type { CoverageSink } from '../resources/coverage/table.ts';
import type { RequestSink } from '../resources/requests/table.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestTracing } from '../telemetry/ports.ts';
import type { EventStreams } from './event-stream.ts';
import type { ConnectionTimeouts } from './http-server.ts';
import type { InboxSettings } from './inbox.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RequestQueueSettings } from './request-queue.ts';

/** Settings that the HTTP modules share. The console and the operator API have additional settings. */
export interface HttpSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Empty on a worker node, which does not serve the API. */
  readonly routes: readonly Route[];
  /** The address at which clients reach this server, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Networks of the proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  /** Names and addresses that the Host header may have in addition to the public URL's host and loopback. */
  readonly allowedHosts: readonly string[];
  /** The base of `docUrl` in errors: an address, or a path on this server. */
  readonly docsUrl: () => string;
  readonly rateLimiter: RateLimiter | undefined;
  readonly metrics: Metrics | undefined;
  readonly tracing?: RequestTracing | undefined;
  /** Receives answered requests; undefined when there is no request log. */
  readonly requestLog: RequestSink | undefined;
  /** Receives the operations and errors that keys have used. */
  readonly coverage: CoverageSink | undefined;
  readonly inbox: InboxSettings;
  /** Each writes its buffered rows, so that a read sees them. */
  readonly writtenBehind: Readonly<Record<WriteBehindData, () => Promise<void>>>;
  readonly streams: EventStreams;
  /** Whether the node can serve requests, and the reason if it cannot. */
  readonly readiness: () => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>;
  /** The ports that the prepare steps of commands use. */
  readonly ports: Ports;
  /** Counts the requests that fault plans may hit. */
  readonly faults: FaultCounter;
  /** The directory of the built docs. */
  readonly docs: URL;
  /** The JSON Schema of seed files, for editors. */
  readonly seedSchema: object;
  readonly logLevel: string;
  readonly wallClock: () => number;
  /** The monotonic clock for caches and rate limits. It runs even when the wall clock is frozen. */
  readonly uptime: () => number;
  /** Connection timeouts and limits of unanswered requests; tests override the defaults. */
  readonly timeouts?: ConnectionTimeouts;
  readonly requestQueue?: RequestQueueSettings;
}
