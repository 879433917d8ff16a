import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Serves the built assets below `prefix`. The build compresses them and names them by content hash, so they never change. */
export function addAssets(
  app: FastifyInstance,
  site: URL,
  prefix: string,
  headers: Readonly<Record<string, string>>,
): void {
  void app.register(fastifyStatic, {
    root: new URL('assets/', site),
    prefix,
    decorateReply: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
    cacheControl: true,
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(headers)) response.header(name, value);
    },
  });
}
