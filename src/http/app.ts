import { isUtf8 } from 'node:buffer';
import Fastify, { type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import { newSuffix } from '../engine/ids.ts';
import { refuse } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import { parseStrict } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { addAccessLog } from './access-log.ts';
import { addApiRoutes } from './api-routes.ts';
import { addClientAddress } from './client-address.ts';
import { addConsole, type Console } from './console.ts';
import { hostCheck } from './hosts.ts';
import { httpServerParts } from './http-server.ts';
import { addInbox } from './inbox.ts';
import { loggerOptions } from './logger.ts';
import { addOperator, type OperatorSettings } from './operator.ts';
import { addPublicRoutes } from './public-routes.ts';
import { Refused, refusalOf } from './refused.ts';
import { addRequestLog } from './request-log.ts';
import { sendRefusal } from './send.ts';
import { createServing } from './serve.ts';
import type { HttpSettings } from './settings.ts';
import { pathOf } from './target.ts';
import { addTracing } from './tracing.ts';

export interface AppSettings extends HttpSettings {
  /** Undefined when this node does not serve the console. */
  readonly console: Console | undefined;
  /** Undefined when there is no operator token. */
  readonly operator: OperatorSettings | undefined;
}

// An id that is too long must reach the handler, which answers that the record does not exist.
// Node limits the headers, including the path, to 16 KiB.
const paramLengthMax = 16 * 1_024;

export function createApp(settings: AppSettings): FastifyInstance {
  const { docsUrl, timeouts, requestQueue: queue } = settings;
  const app = Fastify({
    logger: loggerOptions(settings.logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs 1 µs; log lines name their request themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: () => formatId('request', newSuffix()),
    bodyLimit: limits.bodyBytesMax,
    routerOptions: { maxParamLength: paramLengthMax },
    // While closing, the server still answers accepted requests. Fastify's own 503 would not have the error envelope.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) =>
      void sendRefusal(reply as unknown as FastifyReply, refusalOf(error), docsUrl()),
    ...httpServerParts({ docsUrl, timeouts, queue }),
  });
  addClientAddress(app, settings.trustedProxies);
  const isServed = hostCheck(settings.publicUrl, settings.allowedHosts);
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, raw } = request;
    if (headers.host === undefined && raw.httpVersion === '1.1')
      return done(new Refused(refuse('invalid_request', { message: 'The header Host is missing.' })));
    // Load balancers and orchestrators probe by address. These responses reveal nothing.
    const isProbe = request.routeOptions.url === '/healthz' || request.routeOptions.url === '/readyz';
    const isRefused = !isProbe && !isServed(headers.host, raw.socket.localAddress);
    done(isRefused ? new Refused(refuse('host_not_allowed', { param: 'Host' })) : undefined);
  });
  // Paths outside the API that support GET, for 405. Fastify's own lookup treats the path as a pattern and throws for some.
  const pages = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    if ([method].flat().includes('GET') && !/[:*]/.test(url)) pages.add(url);
  });
  if (settings.tracing) addTracing(app, settings.tracing);
  addRequestLog(app, settings);
  addAccessLog(app, settings);
  acceptStrictJson(app);
  addPublicRoutes(app, settings);
  addInbox(app, settings.inbox, docsUrl);
  const serving = createServing(app, settings);
  const api = addApiRoutes(app, settings, serving);
  if (settings.console) addConsole(app, settings, settings.console, serving);
  if (settings.operator) addOperator(app, settings.operator);

  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const apiMethods = api.methodsOf(path);
    const methods = apiMethods.length === 0 && pages.has(path) ? ['GET', 'HEAD'] : apiMethods;
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

/** Parses JSON with our own parser: JSON.parse accepts duplicate keys and unsafe integers and silently loses data. */
function acceptStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes))
      return done(new Refused(refuse('malformed_json', { message: 'The body is not UTF-8.' })));
    const text = bytes.toString('utf8');
    request.bodyText = text;
    const parsed = parseStrict(text, limits.jsonDepthMax);
    if (parsed.ok) return done(null, parsed.value);
    const { code, message, param } = parsed;
    done(new Refused(refuse(code, { message, ...(param === '' ? {} : { param }) })));
  });
}
