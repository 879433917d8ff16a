import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { refuse } from '../kernel/errors.ts';
import { buildDocument, type Document, DocumentCache, sendDocument } from './document.ts';
import { Refused } from './refused.ts';

/** What scripts/docs.mjs has written beside the pages: every address, its file and its kind. */
interface Served {
  readonly path: string;
  readonly file: string;
  readonly kind: Kind;
}

type Kind = 'page' | 'reference' | 'markdown' | 'text' | 'image';

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
 * The docs, as the build has made them of docs/*.md. Pages are few and small: each is read and compressed on its first
 * request, with the address of this server in it, and cached.
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
  // The address changes once, when the server begins to listen.
  const cache = new DocumentCache(2 * (pages.length + 1));
  const load = (file: string, kind: Kind): Promise<Document> => {
    const address = kind === 'image' ? '' : publicUrl();
    return cache.get(file + address, () => loadFile(new URL(file, directory), kind, address));
  };

  for (const { path, file, kind } of pages) {
    app.get(path, async (_request, reply) => send(reply, kind, await load(file, kind)));
  }
  // For a person with a wrong link; a program gets what it gets everywhere.
  app.get('/docs/*', async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw new Refused(refuse('route_not_found'));
    return send(reply.code(404), 'page', await load('missing.html', 'page'));
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

async function loadFile(file: URL, kind: Kind, address: string): Promise<Document> {
  const content = await readFile(file);
  if (kind === 'image') return buildDocument(content, false);
  const text = content.toString('utf8');
  return buildDocument(address === '' ? text : text.replaceAll(addressInPages, address));
}

function send(reply: FastifyReply, kind: Kind, document: Document): FastifyReply {
  if (kind === 'page' || kind === 'reference')
    reply.header('Content-Security-Policy', kind === 'page' ? pagePolicy : referencePolicy);
  return sendDocument(reply, document, { ...safe, 'Content-Type': contentTypes[kind] });
}
