import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its answer is a stream that goes on until somebody has enough. */
    isEndless: boolean;
  }
}

const slowMsDefault = 1_000;
// A server that is slow is slow for all: one line a second says so, and how many it stands for.
const quietMs = 1_000;

/** A line for each request at the level `debug`, and one at `warn` for those that took long. */
export function addAccessLog(
  app: FastifyInstance,
  settings: { readonly logLevel: string; readonly uptime: () => number; readonly slowMs?: number },
): void {
  const { logLevel, uptime, slowMs = slowMsDefault } = settings;
  app.decorateRequest('isEndless', false);
  const { log } = app;
  const isTalkative = logLevel === 'debug' || logLevel === 'trace';
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  app.addHook('onResponse', (request, reply, done) => {
    const { elapsedTime } = reply;
    if (isTalkative) log.debug(lineOf(request, reply.statusCode, elapsedTime), 'request');
    if (elapsedTime >= slowMs && !request.isEndless && !takesTime(request)) {
      if (uptime() < quietUntil) unsaid += 1;
      else {
        log.warn({ ...lineOf(request, reply.statusCode, elapsedTime), more: unsaid }, 'slow request');
        quietUntil = uptime() + quietMs;
        unsaid = 0;
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
    // The template, because a path may hold an invitation.
    route: routeOptions.url ?? 'none',
    status,
    durationMs: Math.round(elapsedMs * 10) / 10,
    ...(answered?.errorCode ? { errorCode: answered.errorCode } : {}),
    ...(principal ? { organizationId: principal.orgId, actorId: principal.actor.id } : {}),
  };
}

const patient = /(?:_clock\/advance|\/test|\/examine|\/fork|[/_]reset|\/snapshots?|\/import|\/export)$/;

/** Whoever asks for these waits for others: for receivers, for all that falls due, for a file. */
function takesTime({ routeOptions, faultPlan }: FastifyRequest): boolean {
  return patient.test(routeOptions.url ?? '') || faultPlan !== null;
}
