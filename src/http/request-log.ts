import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CoverageSink } from '../resources/coverage/table.ts';
import type { RequestSink } from '../resources/requests/table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for the request log. */
    sentText: string | null;
    /** What was answered, for the request log. */
    answered: Answered | null;
    /** It is in the log already, although its answer goes on. */
    isLeft: boolean;
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

/** Who is told of answered requests; undefined where nobody reads it. */
export interface AnswerSinks {
  readonly requestLog: RequestSink | undefined;
  readonly coverage: CoverageSink | undefined;
}

/** Leaves every answered request in the log, after its answer has gone out. */
export function addRequestLog(app: FastifyInstance, sinks: AnswerSinks): void {
  app.decorateRequest('sentText', null);
  app.decorateRequest('answered', null);
  app.decorateRequest('isLeft', false);
  app.decorate('logRequest', (request: FastifyRequest, reply: FastifyReply, status: number) =>
    leaveAnswer(sinks, request, reply, status),
  );
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.isLeft) leaveAnswer(sinks, request, reply);
    done();
  });
}

/**
 * Who has no key belongs to no organization, and is not logged; of people only what they write is, because the console that
 * shows the log reads all the time.
 */
export function leaveAnswer(
  { requestLog: log, coverage }: AnswerSinks,
  request: FastifyRequest,
  reply: FastifyReply,
  status = reply.statusCode,
): void {
  const { principal, method, operation } = request;
  if (!principal || (principal.actor.kind === 'person' && method !== 'POST')) return;
  request.isLeft = true;
  const { answered, ip } = request;
  const { elapsedTime: elapsedMs } = reply;
  const errorCode = answered?.errorCode ?? null;
  if (principal.actor.kind === 'api_key') coverage?.answered(principal.orgId, operation, status, errorCode);
  // All fields are written out: an object that begins with a spread took 13 µs to fill, this one about 2.
  if (
    log?.count({ principal, status, errorCode, elapsedMs, ip }) &&
    !(errorCode === null && looksAtLog(request))
  )
    log.keep({
      principal,
      status,
      errorCode,
      elapsedMs,
      ip,
      id: request.id,
      method,
      url: request.url,
      route: operation,
      idempotencyKey: answersWithSecret(request) ? '' : request.idempotencyKey,
      isReplay: answered?.isReplay ?? false,
      sent: request.sentText,
      answered: method === 'HEAD' ? null : (answered?.text ?? null),
      faultPlanId: request.faultPlan?.id ?? null,
    });
}

/** Whoever has the Idempotency-Key and the body of such a request could replay its response. */
function answersWithSecret(request: FastifyRequest): boolean {
  const { route } = request.routeOptions.config;
  return route !== undefined && 'command' in route && (route.command.answersWithSecret ?? false);
}

/** Whoever follows the log asks all the time, and would see little else than that. Such a request is counted, and not kept. */
function looksAtLog(request: FastifyRequest): boolean {
  const { route } = request.routeOptions.config;
  return route !== undefined && 'flushBefore' in route && route.flushBefore === 'requests';
}
