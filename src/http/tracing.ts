import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestTracing, Span } from '../telemetry/ports.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
  }
}

// They are asked every few seconds by machines, and say nothing about anybody's request.
const untraced: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * A span for each request. Of the address only the template of the route is told: paths and queries may hold what is secret.
 *
 * By hand and not by `@fastify/otel`: that wraps every hook and every handler of ours in a span of its own, which says in a dozen
 * lines of a trace what is one step here, and knows nothing of a batch, where all that matters happens.
 */
export function addTracing(app: FastifyInstance, tracing: RequestTracing): void {
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    if (untraced.has(request.routeOptions.url)) return done();
    const { traceparent } = request.headers;
    const span = tracing.request(request.id, typeof traceparent === 'string' ? traceparent : undefined);
    request.span = span;
    // A caller that goes away ends it as well.
    reply.raw.once('close', () => end(request, reply, span));
    span.within(done);
  });
  // The body was read by events of the socket, which belong to no request.
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
