import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CoverageSink } from '../resources/coverage/table.ts';
import type { RequestSink } from '../resources/requests/table.ts';
import { requestIdOf } from './request-id.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request body as received, for the request log. */
    bodyText: string | null;
    /** The response, for the request log. */
    answered: Answered | null;
    /** The request is in the log already, although its response is still open. */
    isLogged: boolean;
  }
  interface FastifyInstance {
    /** Logs a request with the given status. */
    logRequest: (request: FastifyRequest, reply: FastifyReply, status: number) => void;
  }
}

interface Answered {
  readonly text: string;
  readonly errorCode: string | null;
  readonly isReplay: boolean;
}

/** The receivers of answered requests; undefined when disabled. */
export interface AnswerSinks {
  readonly requestLog: RequestSink | undefined;
  readonly coverage: CoverageSink | undefined;
}

/** Logs every answered request after its response was sent. */
export function addRequestLog(app: FastifyInstance, sinks: AnswerSinks): void {
  app.decorateRequest('bodyText', null);
  app.decorateRequest('answered', null);
  app.decorateRequest('isLogged', false);
  app.decorate('logRequest', (request: FastifyRequest, reply: FastifyReply, status: number) =>
    logAnswer(sinks, request, reply, status),
  );
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.isLogged) logAnswer(sinks, request, reply);
    done();
  });
}

/**
 * Requests without a valid key belong to no organization and are not logged. For people only writes are logged, because the
 * console, which shows the log, reads all the time.
 */
export function logAnswer(
  { requestLog: log, coverage }: AnswerSinks,
  request: FastifyRequest,
  reply: FastifyReply,
  status = reply.statusCode,
): void {
  const { principal, method, operation } = request;
  if (!principal || (principal.actor.kind === 'person' && method !== 'POST')) return;
  request.isLogged = true;
  const { answered, ip } = request;
  const { elapsedTime: elapsedMs } = reply;
  const errorCode = answered?.errorCode ?? null;
  if (principal.actor.kind === 'api_key') coverage?.answered(principal.orgId, operation, status, errorCode);
  // All fields are listed: an object literal that starts with a spread took 13 µs to fill, this one about 2.
  if (
    log?.count({ principal, status, errorCode, elapsedMs, ip }) &&
    !(errorCode === null && readsLog(request))
  )
    log.store({
      principal,
      status,
      errorCode,
      elapsedMs,
      ip,
      id: requestIdOf(request),
      method,
      url: request.url,
      route: operation,
      idempotencyKey: answersWithSecret(request) ? '' : request.idempotencyKey,
      isReplay: answered?.isReplay ?? false,
      requestBody: request.bodyText,
      responseBody: method === 'HEAD' ? null : (answered?.text ?? null),
      faultPlanId: request.faultPlan?.id ?? null,
    });
}

/** A reader of the log could replay the response of such a request with its Idempotency-Key and body. */
function answersWithSecret(request: FastifyRequest): boolean {
  const { route } = request.routeOptions.config;
  return route !== undefined && 'command' in route && (route.command.answersWithSecret ?? false);
}

/** A client that polls the log would fill it with its own reads. Such requests are counted, but not logged. */
function readsLog(request: FastifyRequest): boolean {
  const { route } = request.routeOptions.config;
  return route !== undefined && 'flushBefore' in route && route.flushBefore === 'requests';
}
