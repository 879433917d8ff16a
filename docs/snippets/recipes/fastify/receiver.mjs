// A receiver on Fastify: WEBHOOK_SECRET=whsec_... node receiver.mjs
import Fastify from 'fastify';
import { Sandbank, SignatureError } from 'sandbank-client';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the signing secret of the endpoint (whsec_...).');

const seen = new Set();
/** In production, insert the id into a table with a unique index, in the transaction that does the work. */
function isNew(eventId) {
  if (seen.has(eventId)) return false;
  seen.add(eventId);
  return true;
}

/** A plugin, so that only its routes get the raw body; the rest of the application continues to parse JSON. */
async function receiver(app) {
  // Verify the raw bytes: a parsed and re-serialized body has another signature.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.post('/webhooks', async (request, reply) => {
    const event = await Sandbank.webhooks.verify(request.body ?? '', request.headers, secret);
    // The same event can arrive twice, after a retry or a replay. Its id stays the same.
    if (isNew(event.id)) console.log(event.type, event.id); // Hand slow work to a queue: respond first.
    return reply.code(204).send();
  });

  app.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: '/webhooks',
    handler: (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  });

  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof SignatureError) return reply.code(401).send();
    throw error; // 413 for a body above bodyLimit
  });
}

const app = Fastify({ bodyLimit: 1_000_000, logger: { level: 'warn' } });
app.register(receiver);
await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
