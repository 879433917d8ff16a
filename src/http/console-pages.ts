import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { apiVersion } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { Refused } from './refused.ts';

const nonceMark = '__CSP_NONCE__';
const nonceBytes = 16;

const headers = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

/**
 * The pages of the console: one document for every address below `/console`, and what it loads, which the build has
 * compressed and named by content. No script runs that is not a file of ours; the one nonce is for the style element with
 * which an open dialog holds the page still.
 */
export function addConsolePages(app: FastifyInstance, directory: URL): void {
  void app.register(fastifyStatic, {
    root: new URL('assets/', directory),
    prefix: '/console/assets/',
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
  let document: Promise<string> | undefined;
  const send = async (reply: FastifyReply) => {
    document ??= readFile(new URL('index.html', directory), 'utf8');
    const html = await document.catch(() => {
      document = undefined;
      throw new Refused(
        refuse('service_unavailable', { message: 'The console is not built. Run `npm run build`.' }),
      );
    });
    const nonce = randomBytes(nonceBytes).toString('base64');
    return reply
      .headers({
        ...headers,
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'no-store',
        'Request-Id': reply.request.id,
        'Api-Version': apiVersion,
        'Content-Security-Policy': policyOf(nonce),
      })
      .send(html.replaceAll(nonceMark, nonce));
  };
  app.get('/console', (_request, reply) => send(reply));
  app.get('/console/*', (request, reply) => {
    // What is asked of the API and is not there shall not be answered with a page.
    if (request.url.startsWith('/console/api/')) throw new Refused(refuse('route_not_found'));
    return send(reply);
  });
}

function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
