import type { FastifyInstance } from 'fastify';
import { refuse } from '../kernel/errors.ts';
import { admit, type ConsoleSettings, consolePrefix } from './console-routes.ts';
import type { EventStreams } from './event-stream.ts';
import { Refused } from './refused.ts';

export interface StreamSettings extends Pick<ConsoleSettings, 'people' | 'reader' | 'publicUrl'> {
  readonly streams: EventStreams;
}

// A stream is admitted once: after this long it ends, the browser comes back by itself, and is looked at again. Whoever was
// signed out or removed in the meantime hears nothing from then on.
const streamMsMax = 5 * 60_000;
const busySeconds = 10;

/** The live events of an organization, for the console. */
export function addConsoleStream(app: FastifyInstance, settings: StreamSettings): void {
  app.get(`${consolePrefix}:orgId/:appId/event_stream`, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'viewer', isOfArchived: true });
    if (refusal) throw new Refused(refusal);
    const orgId = request.principal?.orgId ?? '';
    // From here the answer is not Fastify's: what was set for it goes along.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    if (!settings.streams.open(orgId, reply.raw))
      throw new Refused(
        refuse('service_unavailable', {
          message: 'Too many live streams are open. Close some windows of the console.',
          retryAfterSeconds: busySeconds,
        }),
      );
    reply.hijack();
    const ending = setTimeout(() => reply.raw.end(), streamMsMax);
    reply.raw.once('close', () => clearTimeout(ending));
  });
}
