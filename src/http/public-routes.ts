import type { FastifyInstance, FastifyReply } from 'fastify';
import { apiVersion, resourceBody } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { eventCatalogue } from '../resources/index.ts';
import { addDocs } from './docs.ts';
import { buildDocument, DocumentCache, sendDocument } from './document.ts';
import { addMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { jsonType, sendJson, sendRefusal } from './send.ts';
import type { HttpSettings } from './settings.ts';

// The document contains the server address, which is known once the server listens: one entry before and one after that.
const openApiDocumentsMax = 2;
const schemaType = 'application/schema+json; charset=utf-8';

/** Routes without authentication: health, documents and, if enabled, metrics. */
export function addPublicRoutes(app: FastifyInstance, settings: HttpSettings): void {
  const { routes, publicUrl, metrics } = settings;
  const withHeaders = (reply: FastifyReply) =>
    reply.headers({ 'Request-Id': reply.request.id, 'Api-Version': apiVersion });

  app.get('/healthz', (request, reply) =>
    sendJson(reply, 200, resourceBody({ object: 'health', sandbox: true, status: 'ok' }, request.id)),
  );
  app.get('/readyz', async (request, reply) => {
    const readiness = await settings.readiness();
    if (!readiness.ok)
      return sendRefusal(
        reply,
        refuse('service_unavailable', { message: readiness.reason, retryAfterSeconds: 1 }),
        settings.docsUrl(),
      );
    return sendJson(
      reply,
      200,
      resourceBody({ object: 'readiness', sandbox: true, status: 'ok' }, request.id),
    );
  });
  const openApiDocuments = new DocumentCache(openApiDocumentsMax);
  app.get('/openapi.json', async (_request, reply) => {
    const address = publicUrl();
    const document = await openApiDocuments.get(address, () =>
      buildDocument(JSON.stringify(openApiDocument(routes, eventCatalogue, address))),
    );
    return sendDocument(reply, document, {
      'Content-Type': jsonType,
      // Hosted viewers and editors load the document from a browser. It contains no organization data.
      'Access-Control-Allow-Origin': '*',
    });
  });
  const seedSchemas = new DocumentCache(1);
  app.get('/seed.schema.json', async (_request, reply) => {
    const document = await seedSchemas.get('', () => buildDocument(JSON.stringify(settings.seedSchema)));
    return sendDocument(reply, document, { 'Content-Type': schemaType });
  });
  addDocs(app, settings.docs, publicUrl);
  app.get('/', (_request, reply) => withHeaders(reply).redirect('/docs'));

  if (metrics) addMetrics(app, metrics, settings.uptime);
}
