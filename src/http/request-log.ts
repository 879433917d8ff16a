import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestSink } from '../kernel/request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for the request log. */
    sentText: string | null;
    /** What was answered, for the request log. */
    answered: Answered | null;
  }
  interface FastifyInstance {
    /** Leaves a request in the log, with the status that its answer had. */
    logRequest: (request: FastifyRequest, reply: FastifyReply, status: number) => void;
  }
}

export interface Answered {
  readonly text: string;
  readonly errorCode: string | null;
  readonly isReplay: boolean;
}

/**
 * Leaves every answered request in the log, after its answer has gone out. Who has no key belongs to no organization, and
 * is not logged; of people only what they write is, because the console that shows the log reads all the time.
 */
export function addRequestLog(app: FastifyInstance, log: RequestSink | undefined): void {
  app.decorateRequest('sentText', null);
  app.decorateRequest('answered', null);
  app.decorate('logRequest', (request: FastifyRequest, reply: FastifyReply, status: number) => {
    const { principal, method } = request;
    if (log && principal && (principal.actor.kind !== 'person' || method === 'POST')) {
      const { answered, ip } = request;
      const { elapsedTime: elapsedMs } = reply;
      const errorCode = answered?.errorCode ?? null;
      // All fields are written out: an object that begins with a spread took 13 µs to fill, this one about 2.
      if (log.count({ principal, status, errorCode, elapsedMs, ip }))
        log.keep({
          principal,
          status,
          errorCode,
          elapsedMs,
          ip,
          id: request.id,
          method,
          url: request.url,
          route: operationOf(request),
          idempotencyKey: request.idempotencyKey,
          isReplay: answered?.isReplay ?? false,
          sent: request.sentText,
          answered: method === 'HEAD' ? null : (answered?.text ?? null),
          faultPlanId: request.faultPlan?.id ?? null,
        });
    }
  });
  if (!log) return;
  app.addHook('onResponse', (request, reply, done) => {
    app.logRequest(request, reply, reply.statusCode);
    done();
  });
}

/** The getter of Fastify makes an object each time, so only what is kept is asked for its route. */
function operationOf(request: FastifyRequest): string {
  return request.routeOptions.config.route?.operationId ?? '';
}
