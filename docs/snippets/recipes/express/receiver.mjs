// A receiver on Express: WEBHOOK_SECRET=whsec_... node receiver.mjs
import express from 'express';
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

const app = express();
app.disable('x-powered-by');

// Verify the raw bytes: a parsed and re-serialized body has another signature. No JSON parser may run before this route.
app.post('/webhooks', express.raw({ type: () => true, limit: 1_000_000 }), async (request, response) => {
  const event = await Sandbank.webhooks.verify(request.body ?? '', request.headers, secret);
  // The same event can arrive twice, after a retry or a replay. Its id stays the same.
  if (isNew(event.id)) console.log(event.type, event.id); // Hand slow work to a queue: respond first.
  response.sendStatus(204);
});

app.all('/webhooks', (_request, response) => {
  response.set('Allow', 'POST').sendStatus(405);
});

// Without this handler, Express would respond with a stack trace.
app.use((error, _request, response, _next) => {
  const status = error instanceof SignatureError ? 401 : (error.status ?? 500); // 413 from express.raw
  if (status >= 500) console.error(error);
  response.sendStatus(status);
});

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
