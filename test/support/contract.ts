import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { consolePrefix } from '../../src/http/console-routes.ts';
import { routes } from '../../src/resources/index.ts';
import { type Exchange, faultsOf } from './contract-check.ts';
import { breaches, met } from './contract-tally.ts';

const served: ReadonlySet<unknown> = new Set(routes);

/**
 * Holds a server under test to its own document: every answer of a route that the document lists is compared with what the
 * document says of it, whoever asked. It is the server's side that is listened to, because clients are many.
 */
export function holdToContract(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { route } = request.routeOptions.config;
    if (route && served.has(route)) {
      const exchange = exchangeOf(request, reply, payload, route.operationId);
      if (!exchange.isOfConsole) met.add(`${route.operationId} ${reply.statusCode}`);
      const faults = faultsOf(exchange);
      if (faults.length > 0) breaches.push(tell(request, reply, exchange, faults));
    }
    done(null, payload);
  });
}

function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  operationId: string,
): Exchange {
  return {
    operationId,
    isOfConsole: request.url.startsWith(consolePrefix),
    status: reply.statusCode,
    headers: reply.getHeaders(),
    text: request.method !== 'HEAD' && typeof payload === 'string' ? payload : undefined,
    asked: {
      headers: request.headers,
      query: request.query as Record<string, unknown>,
      body: request.body,
    },
  };
}

function tell(
  { method, url }: FastifyRequest,
  reply: FastifyReply,
  { operationId, text = '' }: Exchange,
  faults: readonly string[],
): string {
  const head = `${method} ${url} (${operationId}) -> ${reply.statusCode}`;
  return [head, ...faults.map((fault) => `  - ${fault}`), `  ${text.slice(0, 600)}`].join('\n');
}
