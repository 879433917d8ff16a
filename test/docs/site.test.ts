import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { errorCatalogue } from '../../src/kernel/errors.ts';
import { eventCatalogue, resources, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { openApp, openServer } from '../support/server.ts';
import { built, readMarkdown, readNavigation, readServed } from './built.ts';

const served = readServed();
const pages = served.filter(({ kind }) => kind === 'page');
const markdown = readMarkdown();
const listed = readNavigation().flatMap(({ pages: names }) => names);
/** A report is part of the package. */
const reportBytesMax = 300_000;
const nameOf = (file: string) => file.replace(/\.md$/, '').toLowerCase();
const htmlOf = (file: string) => readFileSync(new URL(file, built), 'utf8');

describe('the navigation', () => {
  test('has every page of docs/, once', () => {
    expect(new Set(listed).size).toBe(listed.length);
    expect([...markdown.keys()].map(nameOf).filter((name) => !listed.includes(name))).toEqual([]);
  });

  test('lists only existing pages', () => {
    const generatedPages = ['reference', 'operations', 'decisions'];
    const names = new Set([...markdown.keys()].map(nameOf));
    const missing = listed.filter((name) => !names.has(name) && !generatedPages.includes(name));
    expect(missing).toEqual([]);
  });

  test('links each page to the next and the previous one', () => {
    const order = listed.filter((name) => pages.some(({ file }) => file === `${name}.html`));
    expect(order.length).toBeGreaterThan(25);
    for (const [place, name] of order.entries()) {
      const html = htmlOf(`${name}.html`);
      expect(html.match(/aria-current="page"/g), name).toHaveLength(2);
      if (place > 0) expect(html, name).toContain('<a rel="prev"');
      expect(html.includes('<a rel="next"'), name).toBe(name !== listed.at(-1));
    }
  });
});

describe('links', () => {
  const idsOf = new Map(
    served
      .filter(({ kind }) => kind === 'page' || kind === 'reference')
      .map(({ path, file }) => {
        const ids = [...htmlOf(file).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? '');
        return [path, ids] as const;
      }),
  );
  const elsewhere = new Set(['/console', '/openapi.json', '/docs/reference']);
  const files = new Set(served.map(({ path }) => path));

  test.each(pages)('of $path lead to existing pages and anchors', ({ path, file }) => {
    const links = [...htmlOf(file).matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href]) => href ?? '');
    const broken = links.filter((href) => {
      if (/^https?:/.test(href)) return false;
      const [address = '', anchor] = href.split('#');
      const target = address === '' ? path : address;
      if (!files.has(target) && !elsewhere.has(target)) return true;
      return anchor !== undefined && !idsOf.get(target)?.includes(anchor);
    });
    expect(broken).toEqual([]);
    const ids = idsOf.get(path) ?? [];
    expect(
      ids.filter((id, place) => ids.indexOf(id) !== place),
      'duplicate ids',
    ).toEqual([]);
  });

  test('of scripts, styles and images lead to existing files', () => {
    for (const { path, file } of served.filter(({ kind }) => kind === 'page' || kind === 'reference')) {
      for (const [, source = ''] of htmlOf(file).matchAll(
        /(?:src|data-search-(?:script|index)|stylesheet" href)="([^"]+)"/g,
      )) {
        const place = new URL(source.replace(/^\/docs\//, ''), built);
        expect(() => readFileSync(place), `${source} of ${path}`).not.toThrow();
      }
    }
  });
});

describe('generated pages', () => {
  test('every error code has its entry and its anchor', () => {
    const html = htmlOf('errors.html');
    for (const code of Object.keys(errorCatalogue))
      expect(html).toContain(`<article class="entry" id="${code}">`);
  });

  test('every event type is on its page', () => {
    const html = htmlOf('events.html');
    for (const { type } of eventCatalogue) expect(html).toContain(`<td><code>${type}</code></td>`);
  });

  test('every operation is on the page without JavaScript', () => {
    const html = htmlOf('operations.html');
    for (const { path } of routes) expect(html).toContain(`<code>/_api/${path}</code>`);
    expect(html.match(/<tr><td><code>(GET|POST)<\/code>/g)).toHaveLength(routes.length);
  });

  test('every lifecycle has a diagram with all states and a text alternative', () => {
    const drawings = [...htmlOf('states.html').matchAll(/<svg [\s\S]*?<\/svg>/g)].map(([svg]) => svg);
    const withEvents = resources.filter(({ emitsEvents }) => emitsEvents);
    expect(drawings).toHaveLength(withEvents.length);
    for (const [place, { machine }] of withEvents.entries()) {
      const svg = drawings[place] ?? '';
      for (const state of machine.states) expect(svg).toContain(`>${state}</text>`);
      expect(svg).toMatch(/role="img" aria-labelledby="\S+ \S+"/);
      expect(svg).toMatch(/<desc id="\S+">\S+ creates it as \S+;? ?/);
      expect(svg).not.toContain('NaN');
    }
  });

  test.each(['payments', 'refunds', 'disputes', 'customers', 'transfers', 'webhooks'])(
    'the %s page shows its lifecycle',
    (name) => {
      const html = htmlOf(`${name}.html`);
      expect(html.match(/<svg /g)).toHaveLength(1);
      expect(html).toContain('<summary>Transitions as text</summary>');
    },
  );
});

describe('the documentation server', () => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer('pglite');
  });
  afterAll(() => server?.close());
  const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers });

  test('serves every page, also as Markdown, without a key', async () => {
    for (const { path, kind } of served) {
      const { statusCode, headers } = await get(path);
      expect(statusCode, path).toBe(200);
      expect(headers['request-id'], path).toMatch(/^req_/);
      expect(headers['api-version'], path).toBe(apiVersion);
      expect(headers['x-content-type-options'], path).toBe('nosniff');
      if (kind === 'markdown') expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
    }
    expect((await get('/docs/payments.md')).body).toBe(markdown.get('payments.md'));
    expect((await get('/docs/architecture.md')).body).toBe(markdown.get('ARCHITECTURE.md'));
  });

  test('restricts scripts and styles to its own files, and loads nothing from other origins', async () => {
    for (const { path, file } of pages) {
      const policy = String((await get(path)).headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).not.toContain('unsafe');
      const html = htmlOf(file);
      expect(html, path).not.toMatch(/<script(?![^>]*\bsrc="\/docs\/assets\/)|<style|\sstyle="|\son\w+="/);
    }
    const reference = String((await get('/docs/reference')).headers['content-security-policy']);
    expect(reference).toContain("default-src 'none'; script-src 'self';");
    expect(reference).toContain("connect-src 'self'");
  });

  test('serves the soak reports, each as one page without scripts that loads nothing', async () => {
    const reports = served.filter(({ kind }) => kind === 'report');
    expect(reports.map(({ path }) => path)).toContain('/docs/soak/report');
    for (const { path } of reports) {
      const { body, headers } = await get(path);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(body) ?? [];
      const hash = createHash('sha256').update(style).digest('base64');
      expect(headers['content-security-policy']).toContain(`default-src 'none'; style-src 'sha256-${hash}';`);
      expect(body, path).not.toMatch(/<script|\sstyle="|\son\w+="|\ssrc=|<link|url\(/);
      expect(body.length, path).toBeLessThan(reportBytesMax);
    }
  });

  test('answers 304 to a matching ETag', async () => {
    const first = await get('/docs/payments');
    const etag = String(first.headers.etag);
    const second = await get('/docs/payments', { 'if-none-match': etag });
    expect(second.statusCode).toBe(304);
    expect(second.body).toBe('');
    expect((await get('/docs/payments', { 'if-none-match': '"another"' })).statusCode).toBe(200);
  });

  test('compresses pages when the client accepts it', async () => {
    const plain = (await get('/docs/errors')).body;
    const br = await get('/docs/errors', { 'accept-encoding': 'gzip, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain);
    const gz = await get('/docs/errors', { 'accept-encoding': 'gzip, br;q=0' });
    expect(gz.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gz.rawPayload).toString()).toBe(plain);
  });

  test('compresses scripts and styles and caches them for a year under content-hashed names', async () => {
    const sources = [...htmlOf('reference.html').matchAll(/(?:src|stylesheet" href)="([^"]+)"/g)];
    expect(sources.length).toBeGreaterThan(3);
    for (const [, source = ''] of sources) {
      expect(source).toMatch(/-[0-9a-f]{10}\.(js|css|svg)$/);
      const { statusCode, headers } = await get(source, { 'accept-encoding': 'br' });
      expect(statusCode, source).toBe(200);
      expect(headers['content-encoding'], source).toBe('br');
      expect(headers['cache-control'], source).toBe('public, max-age=31536000, immutable');
    }
  });

  test('answers 404 with an HTML page to browsers and with a JSON error to other clients', async () => {
    const person = await get('/docs/nothing', { accept: 'text/html,*/*' });
    expect(person.statusCode).toBe(404);
    expect(person.body).toContain('<h1>Page not found</h1>');
    const program = await get('/docs/nothing');
    expect(program.statusCode).toBe(404);
    expect(program.json().error.code).toBe('route_not_found');
    for (const url of ['/docs/..%2f..%2fpackage.json', '/docs/pages.json', '/docs/payments.html'])
      expect((await get(url)).statusCode, url).toBe(404);
    const posted = await server.app.inject({ method: 'POST', url: '/docs/payments' });
    expect(posted.statusCode).toBe(405);
    expect(posted.headers.allow).toBe('GET, HEAD');
  });

  test('inserts its own address into the commands on the pages', async () => {
    const app = openApp(server, { publicUrl: () => 'https://sandbank.example.com' });
    for (const url of ['/docs', '/docs/quick-start.md', '/llms.txt', '/llms-full.txt']) {
      const { body } = await app.inject(url);
      expect(body, url).toContain('https://sandbank.example.com/');
      expect(body, url).not.toContain('http://127.0.0.1:4000');
    }
    await app.close();
  });

  test('/llms.txt lists every page as Markdown with a summary, and every operation', async () => {
    const { body, headers } = await get('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^# Sandbank\n\n> \S/);
    const links = [...body.matchAll(/^- \[[^\]]+\]\(http:\/\/127\.0\.0\.1:4000(\/docs\/\S+\.md)\): (.+)$/gm)];
    const linked = links.map(([, path]) => path ?? '');
    const wanted = listed.filter((name) => pages.some(({ file }) => file === `${name}.html`));
    expect(linked).toEqual(wanted.map((name) => `/docs/${name}.md`));
    for (const [, path = '', summary = ''] of links) {
      expect((await get(path)).statusCode, path).toBe(200);
      expect(summary, path).toMatch(/^[A-Z].{10,}\.$/);
    }
    for (const { method, path } of routes)
      expect(body).toContain(`- ${method} http://127.0.0.1:4000/_api/${path} (`);
  });

  test('/llms-full.txt contains all pages', async () => {
    const { body } = await get('/llms-full.txt');
    for (const [name, text] of markdown) expect(body.includes(text.trim()), name).toBe(true);
  });
});
