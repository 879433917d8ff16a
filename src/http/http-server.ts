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

/** Timeouts after which the server closes the connection of a slow client. */
export interface ConnectionTimeouts {
  /** From the first byte, or from the connection, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte to the end of the body. The snapshot that an operator imports is streamed, so this includes the import. */
  readonly requestMs: number;
  /** Without a byte in either direction: the client does not read, or is gone. An event stream writes every 15 s. */
  readonly idleMs: number;
  /** How often the first two are checked. */
  readonly checkMs: number;
}

export interface HttpServerSettings {
  readonly docsUrl: () => string;
  readonly timeouts?: ConnectionTimeouts | undefined;
  readonly queue?: RequestQueueSettings | undefined;
}

export interface HttpServerParts {
  readonly serverFactory: (handler: FastifyServerFactoryHandler) => Server;
  readonly clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => void;
}

// All are set, because Node swaps the header timeout and the request timeout when the request timeout is the shorter one.
const defaultTimeouts: ConnectionTimeouts = {
  headersMs: 15_000,
  requestMs: 60_000,
  idleMs: 120_000,
  checkMs: 5_000,
};
// An idle connection costs a few kilobytes. Connections above this limit are closed immediately.
const connectionsMax = 10_000;
const keepAliveMs = 72_000;

const clientErrorMessages: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** The HTTP server below Fastify: timeouts, limits of unanswered requests, and responses to input that is not HTTP. */
export function httpServerParts({ docsUrl, timeouts, queue }: HttpServerSettings): HttpServerParts {
  const { headersMs, requestMs, idleMs, checkMs } = timeouts ?? defaultTimeouts;
  const requests = new RequestQueue(queue);

  const serverFactory = (handler: FastifyServerFactoryHandler): Server => {
    const server = createServer(
      {
        // Node's own response to a missing Host header has no body; ours names the missing header.
        requireHostHeader: false,
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: checkMs,
        keepAliveTimeout: keepAliveMs,
      },
      (request, response) => requests.add(request, response, isReadable(request) ? handler : refuseEncoding),
    );
    server.setTimeout(idleMs);
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
    /** Input that is not HTTP still gets a machine-readable response. */
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

/** The origin at which this process reaches its own server. A wildcard address includes loopback. */
export function ownOrigin(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const resolveAll = (host: string) => lookup(host, { all: true });

/** Listens on the host; for `localhost` on all of its addresses, which are two with IPv6. Returns the port. */
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
        // Skip an address that is not available, such as ::1 without IPv6.
        other.once('error', () => resolve());
        other.listen(main.port, address, resolve);
      });
    }),
  );
  return main.port;
}

/**
 * The parser emits a request when its headers are complete, and only then fails if it cannot determine the body length. Such a
 * request must not be served, or the connection would carry two responses: one to the request and one to the parser error.
 */
function isReadable({ headers }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'chunked';
}

/** The response to a request that never reaches Fastify. It closes the connection. */
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
