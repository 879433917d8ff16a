// A receiver in TypeScript. `npm install standardwebhooks`, then: WEBHOOK_SECRET=whsec_... npx tsx receive-webhooks.ts
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const seen = new Set<string>(); // In earnest: a unique index in your database.

createServer(async (request, response) => {
  // The bytes as they came. A framework that has parsed them already cannot give them back.
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  try {
    const event = webhook.verify(body, request.headers as Record<string, string>) as {
      id: string;
      type: string;
    };
    // The same event may come twice: after a retry, or when you replay it. Its id stays.
    if (!seen.has(event.id)) console.log(event.type, event.id);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end('The signature is not valid.');
  }
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1');
