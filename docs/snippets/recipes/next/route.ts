// app/webhooks/route.ts: the URL of the endpoint is https://YOUR-HOST/webhooks
import { Sandbank, SignatureError } from 'sandbank-client';

const bodyBytesMax = 1_000_000;

const seen = new Set<string>();
/** In production, insert the id into a table with a unique index, in the transaction that does the work. */
function isNew(eventId: string): boolean {
  if (seen.has(eventId)) return false;
  seen.add(eventId);
  return true;
}

// Next.js responds with 405 to the methods that a route handler does not export.
export async function POST(request: Request): Promise<Response> {
  const body = await readBody(request);
  if (!body) return new Response(null, { status: 413 });
  try {
    // Verify the raw bytes: the signature of `await request.json()`, serialized again, is another one.
    const event = await Sandbank.webhooks.verify(body, request.headers, process.env.WEBHOOK_SECRET ?? '');
    // The same event can arrive twice, after a retry or a replay. Its id stays the same.
    if (isNew(event.id)) console.log(event.type, event.id); // Hand slow work to `after()` or a queue: respond first.
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof SignatureError) || error.check === 'secret') throw error;
    return new Response(null, { status: 401 });
  }
}

/** Reads at most `bodyBytesMax`, because route handlers have no limit. Undefined if the body is larger. */
async function readBody(request: Request): Promise<Uint8Array | undefined> {
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    bytes += part.value.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}
