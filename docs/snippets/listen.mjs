// Prints every event without verifying its signature: for a first try only. `node listen.mjs [port]`
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

createServer(async (request, response) => {
  const event = JSON.parse((await text(request)) || '{}');
  console.log(event.type, event.id);
  response.end('thank you');
}).listen(Number(process.argv[2] ?? 9000), '127.0.0.1');
