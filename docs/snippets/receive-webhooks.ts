// A receiver in TypeScript. `npm install standardwebhooks`, then: WEBHOOK_SECRET=whsec_... npx tsx receive-webhooks.ts
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const seen = new Set<string>(); // In production, use a unique index in your database.

createServer(async (request, response) => {
  // Verify the raw bytes: a parsed and re-serialized body has another signature.
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  try {
    const event = webhook.verify(body, request.headers as Record<string, string>) as {
      id: string;
      type: string;
    };
    // The same event can arrive twice, after a retry or a replay. Its id stays the same.
    if (!seen.has(event.id)) console.log(event.type, event.id);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end('The signature is not valid.');
  }
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1');
