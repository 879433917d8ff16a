import type { FastifyInstance } from 'fastify';
import type { EngineMetrics } from '../engine/engine.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { buildDocument, type Document, sendDocument } from './document.ts';

// A scrape with thousands of series takes 70 ms of the main thread, and the endpoint needs no authentication.
const scrapeMsMin = 1_000;

/** Measures every request and serves the measurements, which are collected at most once a second for all clients. */
export function addMetrics(app: FastifyInstance, { http, registry }: Metrics, uptime: () => number): void {
  let scrape: { readonly at: number; readonly document: Promise<Document> } | undefined;
  const collect = (): Promise<Document> => {
    const now = uptime();
    if (scrape && now - scrape.at < scrapeMsMin) return scrape.document;
    const document = registry.metrics().then((text) => buildDocument(text));
    scrape = { at: now, document };
    return document;
  };
  app.get('/metrics', async (_request, reply) =>
    sendDocument(reply, await collect(), { 'Content-Type': registry.contentType }),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    http.began();
    // `close` also fires when the client disconnects; `onResponse` may not run then.
    reply.raw.once('close', () => http.ended());
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { answered, method, routeOptions, isEndless } = request;
    if (answered?.errorCode) http.refused(answered.errorCode);
    if (answered?.isReplay) http.replayed();
    const labels = { method, route: routeOptions.url ?? 'none', status: reply.statusCode };
    if (!isEndless) http.answered(labels, reply.elapsedTime / 1000);
    done();
  });
}

export const unmeasured: EngineMetrics = {
  batch: () => undefined,
  wait: () => undefined,
  retry: () => undefined,
  answered: () => undefined,
  turnedAway: () => undefined,
};
