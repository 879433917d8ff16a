import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { resourceBody } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { limits } from '../kernel/limits.ts';
import type { InboxBehavior } from '../resources/webhooks/table.ts';
import { cutConnection } from './connection.ts';
import type { HeldRequests } from './held-requests.ts';
import { Refused } from './refused.ts';
import { sendJson, sendRefusal } from './send.ts';

/** A verified delivery to an inbox. */
interface Delivery {
  readonly webhook: {
    readonly id: string;
    readonly orgId: string;
    readonly inbox: InboxBehavior | null;
  };
  readonly eventId: string;
  readonly eventType: string;
}

/** What a request says before its body. */
interface RequestHead {
  readonly webhookId: string;
  readonly headers: FastifyRequest['headers'];
}

export interface InboxSettings {
  /** Whether the signature of a request may be valid, judged before its body is read. */
  readonly isPlausible: (request: RequestHead) => boolean;
  /** Verifies the signature; undefined when there is no such inbox or the signature is not valid. */
  readonly accept: (request: RequestHead & { readonly body: Uint8Array }) => Promise<Delivery | undefined>;
  readonly held: HeldRequests;
}

/** Longer than any sender of deliveries waits. */
const timeoutMsMax = limits.webhookTimeoutMs + 5_000;

/**
 * The receiver of deliveries to inboxes. It is public, because the signature is its authentication: an unknown inbox and an invalid
 * signature have the same response, and nothing is stored for either. Every node has it, and each sends to its own.
 */
export function addInbox(
  app: FastifyInstance,
  { isPlausible, accept, held }: InboxSettings,
  docsUrl: () => string,
): void {
  void app.register((scope, _options, done) => {
    // The signature covers the raw bytes, whatever their type.
    scope.removeAllContentTypeParsers();
    const options = { parseAs: 'buffer', bodyLimit: limits.inboxBodyBytesMax } as const;
    scope.addContentTypeParser('*', options, (_request, bytes, parsed) => parsed(null, bytes));
    scope.post<{ Params: { id: string } }>(
      '/inbox/:id',
      {
        bodyLimit: limits.inboxBodyBytesMax,
        onRequest: ({ params, headers }, _reply, done) => {
          const isPossible = isPlausible({ webhookId: params.id, headers });
          done(isPossible ? undefined : new Refused(refuse('webhook_signature_invalid')));
        },
      },
      async (request, reply) => {
        const { params, headers } = request;
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const delivery = await accept({ webhookId: params.id, headers, body });
        if (!delivery?.webhook.inbox) throw new Refused(refuse('webhook_signature_invalid'));
        return respond(reply, delivery, delivery.webhook.inbox, held, docsUrl);
      },
    );
    done();
  });
}

async function respond(
  reply: FastifyReply,
  { webhook: { id, orgId }, eventId, eventType }: Delivery,
  inbox: InboxBehavior,
  held: HeldRequests,
  docsUrl: () => string,
): Promise<FastifyReply> {
  const holdMs = inbox.type === 'timeout' ? timeoutMsMax : inbox.delayMs;
  if (holdMs > 0) {
    if (!held.canHold(orgId))
      return sendRefusal(
        reply,
        refuse('service_unavailable', {
          message: 'Too many requests to inboxes are held open.',
          retryAfterSeconds: 1,
        }),
        docsUrl(),
      );
    await held.hold(orgId, holdMs, (release) => reply.raw.once('close', release));
  }
  if (inbox.type === 'timeout') return cutConnection(reply, 'close');
  const receipt = {
    object: 'inbox_receipt',
    sandbox: true,
    status: 'received',
    webhookId: id,
    eventId,
    eventType,
    signatureVerified: true,
    inbox,
  } as const;
  return sendJson(reply, inbox.responseStatus, resourceBody(receipt, reply.request.id));
}
