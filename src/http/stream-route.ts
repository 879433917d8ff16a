import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiVersion } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import type { ApiStreamRoute } from '../kernel/route.ts';
import { strict } from '../kernel/schema.ts';
import { cutConnection } from './connection.ts';
import type { EventStreams, StreamOptions } from './event-stream.ts';
import { Refused } from './refused.ts';
import { type AnswerSinks, leaveAnswer } from './request-log.ts';
import { sendHead } from './send.ts';
import { type Admission, principalOf, type Serving } from './serve.ts';
import { compileQuery } from './validate.ts';

export interface KeyStreamSettings extends AnswerSinks {
  readonly streams: EventStreams;
  readonly injectFault: Serving['injectFault'];
  /** Whether a key that was let in still would be. */
  readonly isStillAdmitted: (request: FastifyRequest) => Promise<boolean>;
}

// What is known of a key is at most half a second old, so one that was revoked listens three quarters of a second longer at most.
const lookMs = 250;
const busySeconds = 10;

/** A route of the table that does not end: the live events of the application whose key asks. */
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
      const takes = route.streams(query);
      if (typeof takes !== 'function') throw new Refused(takes);
      if (request.faultPlans !== null && (await settings.injectFault(request, reply, route))) return reply;
      // A stream has no answer to lose but its head.
      if (request.faultPlan?.fault.type === 'lose_answer') return cutConnection(reply, 'close');
      if (request.method === 'HEAD') return sendHead(reply, 'text/event-stream');
      reply.headers({ 'Request-Id': request.id, 'Api-Version': apiVersion });
      beginStream(
        reply,
        settings.streams,
        orgId,
        'Too many live streams are open for this key, in this organization or on this server. Close some of them.',
        { holder: actor.id, wants: (event) => event.appId === appId && takes(event.type) },
      );
      leaveAnswer(settings, request, reply);
      const looking = setInterval(() => {
        // While nobody can be asked, nothing can be told either.
        settings.isStillAdmitted(request).then(
          (isGood) => isGood || reply.raw.end(),
          () => undefined,
        );
      }, lookMs);
      reply.raw.once('close', () => clearInterval(looking));
      return reply;
    },
  });
}

/** From here on the answer is not Fastify's: what was set for it goes along. */
export function beginStream(
  reply: FastifyReply,
  streams: EventStreams,
  orgId: string,
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
