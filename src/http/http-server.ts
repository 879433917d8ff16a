import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { FastifyInstance, FastifyServerFactoryHandler } from 'fastify';
import { newSuffix } from '../engine/ids.ts';
import { apiVersion, errorBody } from '../kernel/envelope.ts';
import { refuse, statusOf } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import { RequestQueue, type RequestQueueSettings } from './request-queue.ts';
import { jsonType } from './send.ts';

/** How slow a client may be before the connection ends, in milliseconds. */
export interface Patience {
  /** From the first byte, or from the connection, to the end of the headers. */
  readonly headersMs: number;
  /** To the end of the body: the snapshot that an operator sends is read as it is written. */
  readonly requestMs: number;
  /** Without a byte in either direction: a client that does not read, or has disappeared. A stream writes something every 15 s. */
  readonly silentMs: number;
  /** How often the first two are checked. */
  readonly checkMs: number;
}

export interface HttpServerSettings {
  readonly docsUrl: () => string;
  readonly patience?: Patience | undefined;
  readonly queue?: RequestQueueSettings | undefined;
}

export interface HttpServerParts {
  readonly serverFactory: (handler: FastifyServerFactoryHandler) => Server;
  readonly clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => void;
}

// All are set, because Node has the times for headers and for bodies change places when only the second one is shorter.
const usualPatience: Patience = { headersMs: 15_000, requestMs: 60_000, silentMs: 120_000, checkMs: 5_000 };
// An idle connection costs some kilobytes; one more than this is closed at once.
const connectionsMax = 10_000;
const keepAliveMs = 72_000;

const clientErrorMessages: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** The HTTP server below Fastify: how long clients are waited for, how much they may have unanswered, and what is not HTTP. */
export function httpServerParts({ docsUrl, patience, queue }: HttpServerSettings): HttpServerParts {
  const { headersMs, requestMs, silentMs, checkMs } = patience ?? usualPatience;
  const requests = new RequestQueue(queue);

  const serverFactory = (handler: FastifyServerFactoryHandler): Server => {
    const server = createServer(
      {
        // Node's own response to a missing Host header has no body; ours says what is missing.
        requireHostHeader: false,
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: checkMs,
        keepAliveTimeout: keepAliveMs,
      },
      (request, response) => requests.add(request, response, isReadable(request) ? handler : refuseEncoding),
    );
    server.setTimeout(silentMs);
    server.maxConnections = connectionsMax;
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      requests.add(request, response, refuseExpectation),
    );
    return server;
  };

  const refuseExpectation = (_request: IncomingMessage, response: ServerResponse) =>
    refuseRequest(response, 'The header Expect may only be 100-continue.');
  const refuseEncoding = (_request: IncomingMessage, response: ServerResponse) =>
    refuseRequest(response, 'The header Transfer-Encoding may only be chunked.');

  function refuseRequest(response: ServerResponse, message: string): void {
    const { headers, body } = refusal(message, docsUrl());
    response.writeHead(statusOf('invalid_request'), headers).end(body);
  }

  return {
    serverFactory,
    /** What is not even HTTP still gets a response that a program can read. */
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return;
      const respond = () => {
        const message = clientErrorMessages[error.code ?? ''] ?? 'This is not a complete HTTP/1.1 request.';
        const { headers, body } = refusal(message, docsUrl());
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.end(`HTTP/1.1 ${statusOf('invalid_request')} Bad Request\r\n${lines.join('')}\r\n${body}`);
      };
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') requests.onLateRequest(socket, respond);
      else requests.onClientError(socket, respond);
    },
  };
}

const resolveAll = (host: string) => lookup(host, { all: true });

/** Listens on all addresses of `localhost` when that is the host: it has two where there is IPv6. Returns the port. */
export async function listen(
  app: FastifyInstance,
  port: number,
  host: string,
  resolve: typeof resolveAll = resolveAll,
): Promise<number> {
  await app.listen({ port, host });
  const { server } = app;
  const main = server.address() as AddressInfo;
  const addresses = host === 'localhost' ? await resolve(host) : [];
  const others = addresses.filter(({ address }) => address !== main.address);
  await Promise.all(
    others.map(({ address }) => {
      const other = createTcpServer({ noDelay: true }, (socket) => server.emit('connection', socket));
      other.maxConnections = connectionsMax;
      server.once('close', () => other.close());
      return new Promise<void>((resolve) => {
        // An address that cannot be used, such as ::1 without IPv6, is left out.
        other.once('error', () => resolve());
        other.listen(main.port, address, resolve);
      });
    }),
  );
  return main.port;
}

/**
 * The parser hands a request over when its headers are complete, and fails only then if it does not know how long the body is: the
 * request must not be served, or its connection would have a response to it and another one to what failed.
 */
function isReadable({ headers }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'chunked';
}

/** The response to what never reaches Fastify. The connection ends with it. */
function refusal(message: string, docsUrl: string): { headers: Record<string, string>; body: string } {
  const requestId = formatId('request', newSuffix());
  const body = errorBody(refuse('invalid_request', { message }), requestId, docsUrl);
  const headers = {
    'Content-Type': jsonType,
    'Content-Length': String(Buffer.byteLength(body)),
    'Request-Id': requestId,
    'Api-Version': apiVersion,
    Connection: 'close',
  };
  return { headers, body };
}
