import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { apiVersion } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { addAssets } from './assets.ts';
import { Refused } from './refused.ts';

const noncePlaceholder = '__CSP_NONCE__';
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
 * The console pages: one document for every path below `/console`, and its assets. The build compresses the assets and names
 * them by content hash. The policy allows only our own script files. The nonce is for the one style element with which an open
 * dialog locks page scrolling.
 */
export function addConsolePages(app: FastifyInstance, directory: URL): void {
  addAssets(app, directory, '/console/assets/', headers);
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
      .send(html.replaceAll(noncePlaceholder, nonce));
  };
  app.get('/console', (_request, reply) => send(reply));
  app.get('/console/*', (request, reply) => {
    // An unknown API path must not return a page.
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
