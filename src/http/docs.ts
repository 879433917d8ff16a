import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../kernel/errors.ts';
import { apiVersion } from '../kernel/version.ts';
import { Refused } from './refused.ts';

/** What scripts/docs.mjs has written beside the pages: every address, its file and its kind. */
interface Served {
  readonly path: string;
  readonly file: string;
  readonly kind: Kind;
}

type Kind = 'page' | 'reference' | 'markdown' | 'text' | 'image';

interface Loaded {
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

const inBrotli = promisify(brotliCompress);
const inGzip = promisify(gzip);
const brotliQuality = 5;

/** The address that the pages are written with; readers get that of the server they read from. */
const addressInPages = 'http://127.0.0.1:4000';

const contentTypes: Readonly<Record<Kind, string>> = {
  page: 'text/html; charset=utf-8',
  reference: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  image: 'image/png',
};

const safe = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** No script runs that is not a file of ours, and nothing is asked of anybody else. */
const policyOf = (styles: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const pagePolicy = policyOf("'self'");
/** Scalar writes its styles into the page while it runs. Where it looks for fonts elsewhere, it finds none. */
const referencePolicy = policyOf("'self' 'unsafe-inline'");

/**
 * The docs, as the build has made them of docs/*.md. Pages are few and small: each is read at its first visit, gets the
 * address of this server, is compressed, and is kept.
 */
export function addDocs(app: FastifyInstance, directory: URL, publicUrl: () => string): void {
  const pages = readPages(directory);
  if (pages.length === 0) {
    const unbuilt = refuse('service_unavailable', {
      message: 'The docs are not built. Run `npm run build`.',
    });
    app.get('/docs', () => Promise.reject(new Refused(unbuilt)));
    return;
  }
  const kept = new Map<string, Promise<Loaded>>();
  const load = (file: string, kind: Kind): Promise<Loaded> => {
    const address = kind === 'image' ? '' : publicUrl();
    const known = kept.get(file + address) ?? loadFile(new URL(file, directory), address);
    kept.set(file + address, known);
    return known;
  };

  for (const { path, file, kind } of pages) {
    app.get(path, async (request, reply) => send(request, reply, kind, await load(file, kind)));
  }
  // For a person with a wrong link; a program gets what it gets everywhere.
  app.get('/docs/*', async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw new Refused(refuse('route_not_found'));
    return send(request, reply.code(404), 'page', await load('missing.html', 'page'));
  });
  void app.register(fastifyStatic, {
    root: new URL('assets/', directory),
    prefix: '/docs/assets/',
    decorateReply: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
    cacheControl: true,
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(safe)) response.header(name, value);
    },
  });
}

function readPages(directory: URL): readonly Served[] {
  try {
    return JSON.parse(readFileSync(new URL('pages.json', directory), 'utf8')) as readonly Served[];
  } catch {
    return [];
  }
}

async function loadFile(file: URL, address: string): Promise<Loaded> {
  const content = await readFile(file);
  const plain =
    address === '' ? content : Buffer.from(content.toString('utf8').replaceAll(addressInPages, address));
  const [br, gz] = await Promise.all([
    inBrotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    inGzip(plain),
  ]);
  return { etag: createHash('sha256').update(plain).digest('base64url').slice(0, 22), plain, br, gzip: gz };
}

function send(request: FastifyRequest, reply: FastifyReply, kind: Kind, loaded: Loaded): FastifyReply {
  const encoding = encodingFor(request.headers['accept-encoding'], kind);
  const etag = `"${loaded.etag}${encoding === 'plain' ? '' : `-${encoding}`}"`;
  reply.headers({
    ...safe,
    'Content-Type': contentTypes[kind],
    'Request-Id': request.id,
    'Api-Version': apiVersion,
    // Kept by the browser, and asked about at every visit: after an upgrade nobody reads the old page.
    'Cache-Control': 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  });
  if (kind === 'page' || kind === 'reference')
    reply.header('Content-Security-Policy', kind === 'page' ? pagePolicy : referencePolicy);
  if (encoding !== 'plain') reply.header('Content-Encoding', encoding);
  if (reply.statusCode === 200 && request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.send(loaded[encoding]);
}

function encodingFor(accepted: string | undefined, kind: Kind): 'br' | 'gzip' | 'plain' {
  if (kind === 'image' || accepted === undefined) return 'plain';
  if (/\bbr\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(accepted)) return 'br';
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(accepted) ? 'gzip' : 'plain';
}
