import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The response is a stream that stays open until one side closes it. */
    isEndless: boolean;
  }
}

const slowMsDefault = 1_000;
// A slow server is slow for all requests: log at most one line per second, with the number of suppressed lines.
const slowLogIntervalMs = 1_000;

/** Logs each request at level `debug`, and slow requests at level `warn`. */
export function addAccessLog(
  app: FastifyInstance,
  settings: { readonly logLevel: string; readonly uptime: () => number; readonly slowMs?: number },
): void {
  const { logLevel, uptime, slowMs = slowMsDefault } = settings;
  app.decorateRequest('isEndless', false);
  const { log } = app;
  const logsAll = logLevel === 'debug' || logLevel === 'trace';
  let suppressedUntil = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  app.addHook('onResponse', (request, reply, done) => {
    const { elapsedTime } = reply;
    if (logsAll) log.debug(lineOf(request, reply.statusCode, elapsedTime), 'request');
    if (elapsedTime >= slowMs && !request.isEndless && !isSlowByDesign(request)) {
      if (uptime() < suppressedUntil) suppressed += 1;
      else {
        log.warn({ ...lineOf(request, reply.statusCode, elapsedTime), more: suppressed }, 'slow request');
        suppressedUntil = uptime() + slowLogIntervalMs;
        suppressed = 0;
      }
    }
    done();
  });
}

function lineOf(
  request: FastifyRequest,
  status: number,
  elapsedMs: number,
): Readonly<Record<string, unknown>> {
  const { id, ip, method, routeOptions, principal, answered } = request;
  return {
    requestId: id,
    ip,
    method,
    // The template, because a path may contain an invitation token.
    route: routeOptions.url ?? 'none',
    status,
    durationMs: Math.round(elapsedMs * 10) / 10,
    ...(answered?.errorCode ? { errorCode: answered.errorCode } : {}),
    ...(principal ? { organizationId: principal.orgId, actorId: principal.actor.id } : {}),
  };
}

const slowRoutes =
  /(?:_clock\/advance|\/test|\/examine|\/fork|[/_]reset|\/snapshots?|\/import|\/export|^\/inbox\/:id)$/;

/** Requests that are slow by design: they wait for webhook receivers, for all due timers, for a file or for a fault plan, or an inbox delays
 * them. */
function isSlowByDesign({ routeOptions, faultPlan }: FastifyRequest): boolean {
  return slowRoutes.test(routeOptions.url ?? '') || faultPlan !== null;
}
