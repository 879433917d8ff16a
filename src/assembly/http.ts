import type { FastifyInstance } from 'fastify';
import type { Operator } from '../admin/operator.ts';
import { seedSchemaDocument } from '../admin/seed-schema.ts';
import type { Config } from '../config.ts';
import { databaseReadiness } from '../db/readiness.ts';
import { openCurrentSecret } from '../delivery/signature.ts';
import { hashOfToken } from '../engine/tokens.ts';
import type { Vault } from '../engine/vault.ts';
import { type AppSettings, createApp } from '../http/app.ts';
import type { Console } from '../http/console.ts';
import { createRateLimiter } from '../http/rate-limit.ts';
import type { People } from '../identity/people.ts';
import { built } from '../local/paths.ts';
import { coverageOf } from '../resources/coverage/api.ts';
import { consoleRoutes, coverageUniverse, routes } from '../resources/index.ts';
import { docsUrlOf, type Foundation } from './foundation.ts';
import type { Parts } from './parts.ts';

const builtConsole = new URL('console/', built);
export const builtDocs = new URL('docs/', built);

/** The HTTP layer of the server. */
export function createHttp(
  foundation: Foundation,
  parts: Parts,
  operatorToken: string | undefined,
  isDraining: () => boolean,
): FastifyInstance {
  const { config, database, telemetry, people, wallClock, uptime, address } = foundation;
  const { engine, reader, requestLog, coverage, operator, faults, ports, eventStreams } = parts;
  const { inbox, heldRequests } = parts;
  const isWorker = config.role === 'worker';
  return createApp({
    ...{ engine, reader, requestLog, coverage, faults, ports, wallClock, uptime },
    routes: isWorker ? [] : routes,
    publicUrl: () => address.current,
    docsUrl: docsUrlOf(foundation),
    trustedProxies: config.trustedProxies,
    allowedHosts: isWildcard(config.host) ? config.allowedHosts : [config.host, ...config.allowedHosts],
    rateLimiter: config.rateLimit === undefined ? undefined : createRateLimiter(config.rateLimit),
    metrics: telemetry.metrics,
    tracing: telemetry.tracing,
    writtenBehind: { requests: () => requestLog.flush(), coverage: () => coverage.flush() },
    streams: eventStreams,
    inbox: {
      isPlausible: (request) => inbox.isPlausible(request),
      accept: (request) => inbox.accept(request),
      held: heldRequests,
    },
    readiness: () =>
      isDraining()
        ? Promise.resolve({ ok: false, reason: 'The server is shutting down.' })
        : databaseReadiness(database),
    operator: isWorker ? undefined : operatorApi(parts, operatorToken),
    console: isWorker ? undefined : consoleOf(config, people, operator, foundation.vault),
    docs: builtDocs,
    seedSchema: seedSchemaDocument,
    logLevel: config.logLevel,
  });
}

function operatorApi(
  { operator, coverage, reader }: Parts,
  token: string | undefined,
): AppSettings['operator'] {
  return {
    token,
    actions: operator,
    coverage: (orgIds) => coverage.flush().then(() => coverageOf(reader, orgIds, coverageUniverse)),
  };
}

export function consoleOf(
  { registration }: Pick<Config, 'registration'>,
  people: People,
  operator: Pick<Operator, 'snapshotFor' | 'restoreFor'>,
  vault: Vault,
): Console {
  const isOpen = registration === 'open';
  return {
    people,
    routes: consoleRoutes,
    directory: builtConsole,
    isOpen,
    hashOfToken,
    takeSnapshot: (request, principal) => operator.snapshotFor(request, principal),
    openWebhookSecret: (webhook) => openCurrentSecret(vault, webhook),
    restoreSnapshot: (request, principal, bytes, target) =>
      operator.restoreFor(request, principal, bytes, { ...target, isOpen }),
  };
}

/** A wildcard address means all addresses of the machine; it is not a host name. */
export const isWildcard = (host: string) => host === '0.0.0.0' || host === '::';
