import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleAnswer } from '../../src/http/console-answers.ts';
import { consolePrefix } from '../../src/http/console-routes.ts';
import type { DeclaredResponse } from '../../src/kernel/route.ts';
import { routes } from '../../src/resources/index.ts';
import { consoleFaultsOf } from './console-check.ts';
import { type Exchange, faultsOf } from './contract-check.ts';
import { breaches, met, metInConsole } from './contract-tally.ts';

const served: ReadonlySet<unknown> = new Set(routes);

/**
 * Compares every response of a documented route with the OpenAPI document, and every other response of the console with its declared
 * schema. Runs as a server hook, so it covers every client.
 */
export function checkContract(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { config, url } = request.routeOptions;
    const { route } = config;
    // Nothing was sent when a fault plan cut the connection. A stream is checked by its own tests.
    if (reply.raw.headersSent && !request.isEndless) {
      if (route && served.has(route)) checkDocumented(request, reply, route.operationId);
      else if (url?.startsWith(consolePrefix)) checkConsole(request, reply, route ?? config.answer);
    }
    done();
  });
}

function checkDocumented(request: FastifyRequest, reply: FastifyReply, operationId: string): void {
  const exchange = exchangeOf(request, reply, operationId);
  if (!exchange.isOfConsole) met.add(`${operationId} ${reply.statusCode}`);
  const faults = faultsOf(exchange);
  if (faults.length > 0) breaches.push(describeBreach(request, reply, exchange, faults));
}

function checkConsole(
  request: FastifyRequest,
  reply: FastifyReply,
  declared: DeclaredResponse | ConsoleAnswer | undefined,
): void {
  const exchange = exchangeOf(request, reply, declared?.responseName ?? 'undeclared');
  const faults = declared
    ? consoleContentFaults(exchange, declared)
    : ['the route declares no response: add one to src/http/console-answers.ts'];
  if (declared && exchange.status < 300)
    metInConsole.add(`${request.method} ${request.routeOptions.url?.slice(consolePrefix.length)}`);
  if (faults.length > 0) breaches.push(describeBreach(request, reply, exchange, faults));
}

function consoleContentFaults(
  { status, headers, text }: Exchange,
  declared: DeclaredResponse | ConsoleAnswer,
): readonly string[] {
  const expected = status < 300 && 'contentType' in declared ? declared.contentType : 'application/json';
  const type = String(headers['content-type']).split(';')[0];
  if (type !== expected) return [`content type ${type} is not ${expected}`];
  return text === undefined || type !== 'application/json' ? [] : consoleFaultsOf(declared, status, text);
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
