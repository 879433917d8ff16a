import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { refuse } from '../kernel/errors.ts';
import { addAssets } from './assets.ts';
import { buildDocument, type Document, DocumentCache, sendDocument } from './document.ts';
import { Refused } from './refused.ts';

/** An entry of pages.json, which scripts/docs.mjs writes beside the pages: a path with its file and kind. */
interface PageEntry {
  readonly path: string;
  readonly file: string;
  readonly kind: Kind;
  /** Of a report: the SHA-256 of its only style element. */
  readonly styleHash?: string;
}

type Kind = 'page' | 'reference' | 'markdown' | 'text' | 'image' | 'report';

/** The server address in the built pages. Each server replaces it with its own. */
const addressInPages = 'http://127.0.0.1:4000';

const contentTypes: Readonly<Record<Kind, string>> = {
  page: 'text/html; charset=utf-8',
  reference: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  image: 'image/png',
  report: 'text/html; charset=utf-8',
};

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Allows only our own script files and no requests to other hosts. */
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

const policies: Readonly<Partial<Record<Kind, string>>> = {
  page: policyOf("'self'"),
  /** Scalar injects its styles at run time. The policy blocks the fonts that it would load from other hosts. */
  reference: policyOf("'self' 'unsafe-inline'"),
};

/** A report has no scripts, and loads nothing. */
function reportPolicy(styleHash: string): string {
  return `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/**
 * Serves the docs that the build generates from docs/*.md. Pages are few and small: each is read, given the address of this
 * server, compressed and cached on its first request.
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
  // The address changes once, when the server starts to listen.
  const cache = new DocumentCache(2 * (pages.length + 1));
  const load = (file: string, kind: Kind): Promise<Document> => {
    const address = kind === 'image' ? '' : publicUrl();
    return cache.get(file + address, () => loadFile(new URL(file, directory), kind, address));
  };

  for (const { path, file, kind, styleHash } of pages) {
    const policy = styleHash === undefined ? policies[kind] : reportPolicy(styleHash);
    app.get(path, async (_request, reply) => send(reply, { kind, policy }, await load(file, kind)));
  }
  // A browser with a wrong link gets a page; other clients get the usual JSON error.
  app.get('/docs/*', async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw new Refused(refuse('route_not_found'));
    const page = { kind: 'page', policy: policies.page } as const;
    return send(reply.code(404), page, await load('missing.html', 'page'));
  });
  addAssets(app, directory, '/docs/assets/', securityHeaders);
}

function readPages(directory: URL): readonly PageEntry[] {
  try {
    return JSON.parse(readFileSync(new URL('pages.json', directory), 'utf8')) as readonly PageEntry[];
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

interface Sent {
  readonly kind: Kind;
  readonly policy: string | undefined;
}

function send(reply: FastifyReply, { kind, policy }: Sent, document: Document): FastifyReply {
  if (policy !== undefined) reply.header('Content-Security-Policy', policy);
  return sendDocument(reply, document, { ...securityHeaders, 'Content-Type': contentTypes[kind] });
}
