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
