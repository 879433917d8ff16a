import type { FastifyInstance, FastifyReply } from 'fastify';
import { resourceBody } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { apiVersion } from '../kernel/version.ts';
import { eventCatalogue, resources } from '../resources/index.ts';
import type { AppSettings } from './app.ts';
import { openApiDocument } from './openapi.ts';
import { docsPage, errorsPage, llmsText } from './pages.ts';
import { eventsReference, scenariosReference, statesReference, toPage } from './reference.ts';
import { sendJson, sendRefusal } from './send.ts';

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  // No script may run at all. The style sheet of the page is its only inline part.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;

/** What needs no key: health, documents and, when switched on, metrics. */
export function addPublicRoutes(app: FastifyInstance, settings: AppSettings): void {
  const { routes, publicUrl, metrics } = settings;
  const named = (reply: FastifyReply) =>
    reply.headers({ 'Request-Id': reply.request.id, 'Api-Version': apiVersion });
  const sendPage = (reply: FastifyReply, html: string) => named(reply).headers(pageHeaders).send(html);

  app.get('/healthz', (request, reply) =>
    sendJson(reply, 200, resourceBody({ object: 'health', sandbox: true, status: 'ok' }, request.id)),
  );
  app.get('/readyz', async (request, reply) => {
    const readiness = await settings.readiness();
    if (!readiness.ok)
      return sendRefusal(
        reply,
        refuse('service_unavailable', { message: readiness.reason, retryAfterSeconds: 1 }),
        `${publicUrl()}/docs`,
      );
    return sendJson(
      reply,
      200,
      resourceBody({ object: 'readiness', sandbox: true, status: 'ok' }, request.id),
    );
  });
  app.get('/openapi.json', (_request, reply) =>
    sendJson(reply, 200, JSON.stringify(openApiDocument(routes, eventCatalogue, publicUrl()))),
  );
  app.get('/docs', (_request, reply) => sendPage(reply, docsPage(routes, publicUrl())));
  app.get('/docs/states', (_request, reply) => sendPage(reply, toPage(statesReference(resources))));
  app.get('/docs/events', (_request, reply) => sendPage(reply, toPage(eventsReference(eventCatalogue))));
  app.get('/docs/scenarios', (_request, reply) => sendPage(reply, toPage(scenariosReference())));
  app.get('/docs/errors', (_request, reply) => sendPage(reply, errorsPage()));
  app.get('/llms.txt', (_request, reply) =>
    named(reply).type('text/plain; charset=utf-8').send(llmsText(routes, publicUrl())),
  );
  app.get('/', (_request, reply) => named(reply).redirect('/docs'));

  if (!metrics) return;
  metrics.watchQueue(() => settings.engine.queueLength);
  app.get('/metrics', async (_request, reply) =>
    named(reply)
      .type(metrics.contentType)
      .send(await metrics.text()),
  );
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.request({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });
}
