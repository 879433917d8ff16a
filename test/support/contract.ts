import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { consolePrefix } from '../../src/http/console-routes.ts';
import { routes } from '../../src/resources/index.ts';
import { type Exchange, faultsOf } from './contract-check.ts';
import { breaches, met } from './contract-tally.ts';

const served: ReadonlySet<unknown> = new Set(routes);

/**
 * Compares every response of a documented route with the OpenAPI document. Runs as a server hook, so it covers every client.
 */
export function checkContract(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { route } = request.routeOptions.config;
    if (route && served.has(route)) {
      const exchange = exchangeOf(request, reply, payload, route.operationId);
      if (!exchange.isOfConsole) met.add(`${route.operationId} ${reply.statusCode}`);
      const faults = faultsOf(exchange);
      if (faults.length > 0) breaches.push(describeBreach(request, reply, exchange, faults));
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
    request: {
      headers: request.headers,
      query: request.query as Record<string, unknown>,
      body: request.body,
    },
  };
}

function describeBreach(
  { method, url }: FastifyRequest,
  reply: FastifyReply,
  { operationId, text = '' }: Exchange,
  faults: readonly string[],
): string {
  const head = `${method} ${url} (${operationId}) -> ${reply.statusCode}`;
  return [head, ...faults.map((fault) => `  - ${fault}`), `  ${text.slice(0, 600)}`].join('\n');
}
