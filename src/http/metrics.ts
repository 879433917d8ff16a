import type { FastifyInstance, FastifyReply } from 'fastify';
import type { EngineMetrics } from '../engine/engine.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Measures every request, and serves what was measured. */
export function addMetrics(
  app: FastifyInstance,
  { http, registry }: Metrics,
  named: (reply: FastifyReply) => FastifyReply,
): void {
  app.get('/metrics', async (_request, reply) =>
    named(reply)
      .type(registry.contentType)
      .send(await registry.metrics()),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    http.began();
    // Also when the caller has gone away: then nothing else tells that it is over.
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
