// `tsx serve-route.ts ROUTE`: serves a Next.js route handler with Node alone. Like Next.js it passes a Web Request, sends the Response that the
// handler returns, and responds with 405 to methods that the file does not export.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

type Handler = (request: Request) => Promise<Response>;

const [, , file = ''] = process.argv;
const handlers = (await import(pathToFileURL(file).href)) as Readonly<Record<string, Handler>>;

createServer(async (incoming, outgoing) => {
  const handler = handlers[incoming.method ?? ''];
  if (!handler) return outgoing.writeHead(405).end();
  const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
  const headers = incoming.headers as Record<string, string>;
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    ...{ method: 'POST', headers, body, duplex: 'half' },
  });
  try {
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  } catch (error) {
    console.error(error);
    outgoing.writeHead(500).end();
  }
}).listen(Number(process.env.PORT), '127.0.0.1');
