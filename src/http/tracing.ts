import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestTracing, Span } from '../telemetry/ports.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
  }
}

// Monitoring polls these every few seconds; their spans would be noise.
const untraced: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Creates a span for each request. It has only the route template, because paths and queries may contain secrets.
 *
 * Manual instrumentation instead of `@fastify/otel`: that library creates a separate span for every hook and handler, a dozen spans
 * for one step, and does not know about batches, where the actual work happens.
 */
export function addTracing(app: FastifyInstance, tracing: RequestTracing): void {
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    if (untraced.has(request.routeOptions.url)) return done();
    const { traceparent } = request.headers;
    const span = tracing.request(request.id, typeof traceparent === 'string' ? traceparent : undefined);
    request.span = span;
    // A client that disconnects ends the span as well.
    reply.raw.once('close', () => end(request, reply, span));
    span.within(done);
  });
  // The body was read in socket events, which have no request context. Restore the span.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.span) request.span.within(done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (request.span) end(request, reply, request.span);
    done();
  });
}

function end(request: FastifyRequest, reply: FastifyReply, span: Span): void {
  const { method, routeOptions, principal, answered, operation } = request;
  const route = routeOptions.url ?? 'none';
  span.name(`${method} ${route}`);
  const { statusCode } = reply;
  span.end(
    {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': statusCode,
      ...(operation === '' ? {} : { 'sandbank.operation': operation }),
      ...(principal ? { 'sandbank.organization_id': principal.orgId } : {}),
      ...(answered?.errorCode ? { 'sandbank.error_code': answered.errorCode } : {}),
      ...(answered?.isReplay ? { 'sandbank.replayed': true } : {}),
    },
    statusCode >= 500 ? (answered?.errorCode ?? String(statusCode)) : undefined,
  );
}
