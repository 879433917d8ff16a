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
  app.addHook('onResponse', (request, reply, done) => {
    const { route } = request.routeOptions.config;
    // Nothing was sent when a fault plan cut the connection. A stream is checked by its own tests.
    if (route && served.has(route) && reply.raw.headersSent && !request.isEndless) {
      const exchange = exchangeOf(request, reply, route.operationId);
      if (!exchange.isOfConsole) met.add(`${route.operationId} ${reply.statusCode}`);
      const faults = faultsOf(exchange);
      if (faults.length > 0) breaches.push(describeBreach(request, reply, exchange, faults));
    }
    done();
  });
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply, operationId: string): Exchange {
  return {
    operationId,
    isOfConsole: request.url.startsWith(consolePrefix),
    status: reply.statusCode,
    headers: sentHeaders(reply),
    text: request.method === 'HEAD' ? undefined : request.answered?.text,
    request: {
      headers: request.headers,
      query: request.query as Record<string, unknown>,
      body: request.body,
    },
  };
}

/** The headers as they were sent: Node has no other record of those that were given to `writeHead`. */
function sentHeaders({ raw }: FastifyReply): Record<string, string> {
  const { _header: sent } = raw as unknown as { readonly _header: string };
  const [, ...lines] = sent.trimEnd().split('\r\n');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
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
