import { isUtf8 } from 'node:buffer';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { newSuffix } from '../engine/ids.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import { refuse } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import { parseStrict } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader, Route, WrittenBehind } from '../kernel/route.ts';
import type { CoverageSink } from '../resources/coverage/table.ts';
import type { RequestSink } from '../resources/requests/table.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestTracing } from '../telemetry/ports.ts';
import { addAccessLog } from './access-log.ts';
import { addApiRoutes } from './api-routes.ts';
import { addClientAddress } from './client-address.ts';
import { addConsole, type Console } from './console.ts';
import type { EventStreams } from './event-stream.ts';
import { hostCheck } from './hosts.ts';
import { httpServerParts, type Patience } from './http-server.ts';
import { loggerOptions } from './logger.ts';
import { addOperator, type OperatorSettings } from './operator.ts';
import { addPublicRoutes } from './public-routes.ts';
import type { RateLimiter } from './rate-limit.ts';
import { Refused, refusalOf } from './refused.ts';
import { addRequestLog } from './request-log.ts';
import type { RequestQueueSettings } from './request-queue.ts';
import { sendRefusal } from './send.ts';
import { createServing } from './serve.ts';
import { addTracing } from './tracing.ts';

export interface AppSettings {
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
  readonly writtenBehind: Readonly<Record<WrittenBehind, () => Promise<void>>>;
  readonly streams: EventStreams;
  /** Whether the node can serve; a sentence says why not. */
  readonly readiness: () => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>;
  /** Commands that take several transactions, by name: each is carried out from its first to its last. */
  readonly errands: ReadonlyMap<string, (submission: Submission) => Promise<Answer>>;
  /** Counts the requests that fault plans may hit. */
  readonly faults: FaultCounter;
  /** None when this node serves no console. */
  readonly console: Console | undefined;
  /** None where nobody is the operator. */
  readonly operator: OperatorSettings | undefined;
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

// A long id is as unknown as a short one: it must reach the handler and be a record that is not there.
// The limit for headers, which the path counts to, is 16 KiB.
const paramLengthMax = 16 * 1_024;

export function createApp(settings: AppSettings): FastifyInstance {
  const { docsUrl, patience, requestQueue: queue } = settings;
  const app = Fastify({
    logger: loggerOptions(settings.logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    // A logger made for every request costs 1 µs of it; what is logged names its request itself.
    childLoggerFactory: (logger) => logger,
    genReqId: () => formatId('request', newSuffix()),
    bodyLimit: limits.bodyBytesMax,
    routerOptions: { maxParamLength: paramLengthMax },
    // While it closes, the server still answers what it accepted; Fastify's own 503 would not carry the envelope.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) =>
      void sendRefusal(reply as unknown as FastifyReply, refusalOf(error), docsUrl()),
    ...httpServerParts({ docsUrl, patience, queue }),
  });
  addClientAddress(app, settings.trustedProxies);
  const isServed = hostCheck(settings.publicUrl, settings.allowedHosts);
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, raw } = request;
    if (headers.host === undefined && raw.httpVersion === '1.1')
      return done(new Refused(refuse('invalid_request', { message: 'The header Host is missing.' })));
    // Load balancers and orchestrators probe by address; what they get reveals nothing.
    const isProbe = request.routeOptions.url === '/healthz' || request.routeOptions.url === '/readyz';
    const isRefused = !isProbe && !isServed(headers.host, raw.socket.localAddress);
    done(isRefused ? new Refused(refuse('host_not_allowed', { param: 'Host' })) : undefined);
  });
  // What is not the API's and can be read, for 405. Fastify can be asked as well, but reads the path as a pattern, and some throw.
  const pages = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    if ([method].flat().includes('GET') && !/[:*]/.test(url)) pages.add(url);
  });
  if (settings.tracing) addTracing(app, settings.tracing);
  addRequestLog(app, settings);
  addAccessLog(app, settings);
  acceptStrictJson(app);
  addPublicRoutes(app, settings);
  const serving = createServing(app, settings);
  const api = addApiRoutes(app, settings, serving);
  if (settings.console) addConsole(app, settings, settings.console, serving);
  if (settings.operator) addOperator(app, settings.operator);

  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const known = api.methodsOf(path);
    const methods = known.length === 0 && pages.has(path) ? ['GET', 'HEAD'] : known;
    if (methods.length === 0) return sendRefusal(reply, refuse('route_not_found'), docsUrl());
    reply.header('Allow', methods.join(', '));
    return sendRefusal(reply, refuse('method_not_allowed', { details: { allowed: methods } }), docsUrl());
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.code === 'internal_error')
      request.log.error({ err: error, requestId: request.id }, 'a request failed');
    return serving.refuse(request, reply, refusal);
  });
  return app;
}

export function pathOf(request: FastifyRequest): string {
  const query = request.url.indexOf('?');
  return query === -1 ? request.url : request.url.slice(0, query);
}

/** JSON is read by our own reader: what JSON.parse lets pass (duplicate keys, unsafe integers) would be lost silently. */
function acceptStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes))
      return done(new Refused(refuse('malformed_json', { message: 'The body is not UTF-8.' })));
    const text = bytes.toString('utf8');
    request.sentText = text;
    const parsed = parseStrict(text, limits.jsonDepthMax);
    if (parsed.ok) return done(null, parsed.value);
    const { code, message, param } = parsed;
    done(new Refused(refuse(code, { message, ...(param === '' ? {} : { param }) })));
  });
}
