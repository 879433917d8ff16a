import { createServer } from 'node:http';
import { Sandbank, SignatureError } from 'sandbank/client';

// During a secret rotation, pass both secrets: 'whsec_old,whsec_new'.
const secrets = (process.env.WEBHOOK_SECRET ?? '').split(',');

createServer(async (request, response) => {
  // Verify the raw bytes: a parsed and re-serialized body has another signature.
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const event = await Sandbank.webhooks.verify(Buffer.concat(chunks), request.headers, secrets);
    switch (event.type) {
      case 'payment.created':
        console.log(event.type, event.data.amount, event.data.currency); // data is a Payment here
        break;
      case 'transfer.sent':
        console.log(event.type, event.data.targetAmount); // and a Transfer here
        break;
    }
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    response.writeHead(400).end(error.message);
  }
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1');
