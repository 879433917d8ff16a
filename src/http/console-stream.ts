import type { FastifyInstance } from 'fastify';
import { admit, type ConsoleSettings, consolePrefix } from './console-routes.ts';
import type { EventStreams } from './event-stream.ts';
import { Refused } from './refused.ts';
import { beginStream } from './stream-route.ts';

export interface StreamSettings extends Pick<ConsoleSettings, 'people' | 'reader' | 'publicUrl'> {
  readonly streams: EventStreams;
}

// A stream is admitted once: after this long it ends, the browser comes back by itself, and is looked at again. Whoever was
// signed out or removed in the meantime hears nothing from then on.
const streamMsMax = 5 * 60_000;

/** The live events of an organization, for the console. */
export function addConsoleStream(app: FastifyInstance, settings: StreamSettings): void {
  app.get(`${consolePrefix}:orgId/:appId/event_stream`, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'viewer', isOfArchived: true });
    if (refusal) throw new Refused(refusal);
    const orgId = request.principal?.orgId ?? '';
    const busyWords = 'Too many live streams are open. Close some windows of the console.';
    beginStream(reply, settings.streams, orgId, busyWords);
    const ending = setTimeout(() => reply.raw.end(), streamMsMax);
    reply.raw.once('close', () => clearTimeout(ending));
  });
}
