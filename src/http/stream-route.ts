import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiVersion } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { ApiStreamRoute } from '../kernel/route.ts';
import { strict } from '../kernel/schema.ts';
import { cutConnection } from './connection.ts';
import type { EventStreams, StreamOptions } from './event-stream.ts';
import { Refused } from './refused.ts';
import { type AnswerSinks, logAnswer } from './request-log.ts';
import { sendHead } from './send.ts';
import { type Admission, principalOf, type Serving } from './serve.ts';
import { compileQuery } from './validate.ts';

export interface KeyStreamSettings extends AnswerSinks {
  readonly streams: EventStreams;
  readonly injectFault: Serving['injectFault'];
  /** Whether the key of an open stream is still valid. */
  readonly isStillAdmitted: (request: FastifyRequest) => Promise<boolean>;
}

// A cached key is at most half a second old, so a stream ends at most 0.75 s after its key was revoked.
const checkMs = 250;
const busySeconds = 10;

/** Serves the live event stream of an application to its API keys. */
export function addKeyStream(
  app: FastifyInstance,
  route: ApiStreamRoute,
  url: string,
  admit: Admission,
  settings: KeyStreamSettings,
): void {
  const checkQuery = compileQuery(route.query ?? strict({}));
  app.route({
    method: 'GET',
    url,
    config: { route },
    onRequest: admit,
    handler: async (request, reply) => {
      const { orgId, appId, actor } = principalOf(request);
      const query = { ...(request.query as Record<string, unknown>) };
      const refusal = checkQuery(query);
      if (refusal) throw new Refused(refusal);
      const matchesType = route.streams(query);
      if (typeof matchesType !== 'function') throw new Refused(matchesType);
      if (request.faultPlans !== null && (await settings.injectFault(request, reply, route))) return reply;
      // The only response that a stream can lose is its head.
      if (request.faultPlan?.fault.type === 'lose_answer') return cutConnection(reply, 'close');
      if (request.method === 'HEAD') return sendHead(reply, 'text/event-stream');
      reply.headers({ 'Request-Id': request.id, 'Api-Version': apiVersion });
      beginStream(
        reply,
        settings.streams,
        orgId,
        'Too many live streams are open for this key, in this organization or on this server. Close some of them.',
        { holder: actor.id, wants: (event) => event.appId === appId && matchesType(event.type) },
      );
      logAnswer(settings, request, reply);
      const checkTimer = setInterval(() => {
        // While the database does not answer, no events are read either.
        settings.isStillAdmitted(request).then(
          (isAdmitted) => isAdmitted || reply.raw.end(),
          () => undefined,
        );
      }, checkMs);
      reply.raw.once('close', () => clearInterval(checkTimer));
      return reply;
    },
  });
}

/** Takes over the raw response from Fastify, with the headers that were set on the reply. */
export function beginStream(
  reply: FastifyReply,
  streams: EventStreams,
  orgId: Id<'organization'>,
  busyMessage: string,
  options: StreamOptions,
): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  if (!streams.open(orgId, reply.raw, options))
    throw new Refused(
      refuse('service_unavailable', { message: busyMessage, retryAfterSeconds: busySeconds }),
    );
  reply.request.isEndless = true;
  reply.hijack();
}
