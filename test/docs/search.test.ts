import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalogue } from '../../src/kernel/errors.ts';
import { scenarioDescriptions } from '../../src/kernel/scenario.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';
import { built } from './built.ts';

interface Result {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly excerpt: string;
}

interface SearchScript {
  openIndex(address: string): Promise<(query: string) => readonly Result[]>;
}

const home = readFileSync(new URL('index.html', built), 'utf8');
const assetOf = (name: string) => new RegExp(`data-${name}="/docs/([^"]+)"`).exec(home)?.[1] ?? '';

/** Runs the script and the index that a browser loads from a real server. */
describe('the search', () => {
  let server: Server;
  let search: (query: string) => readonly Result[];
  beforeAll(async () => {
    server = await openServer('pglite');
    const url = await server.listen();
    const script = new URL(assetOf('search-script'), built).href;
    const { openIndex } = (await import(script)) as SearchScript;
    search = await openIndex(`${url}/docs/${assetOf('search-index')}`);
  });
  afterAll(() => server?.close());

  const first = (query: string) => search(query)[0]?.id;

  test('finds every operation by its id, and by its method and path', () => {
    for (const { method, path, operationId, tag } of routes) {
      const address = `/docs/reference#tag/${tag.toLowerCase().replaceAll(' ', '-')}/${operationId}`;
      expect(first(operationId), operationId).toBe(address);
      expect(first(`${method} /_api/${path}`), path).toBe(address);
    }
  });

  test('finds operations by their summary', () => {
    for (const { summary, operationId } of routes) {
      const places = search(summary).map(({ id }) => id.split('/').at(-1));
      expect(places.slice(0, 12), summary).toContain(operationId);
    }
  });

  test('finds every error code and every event type first', () => {
    for (const code of Object.keys(errorCatalogue)) expect(first(code)).toBe(`/docs/errors#${code}`);
    for (const { type } of eventCatalogue) expect(first(type)).toBe(`/docs/events#${type}`);
  });

  test('finds every scenario', () => {
    for (const scenario of Object.keys(scenarioDescriptions))
      expect(search(scenario).map(({ id }) => id)).toContain(`/docs/scenarios#${scenario}`);
  });

  test.each([
    ['rotate_secret', '/docs/webhooks#endpoints'],
    ['idempot', '/docs/idempotency'],
    ['idempotncy', '/docs/idempotency'],
    ['verify python', '/docs/webhooks#verifying-in-python'],
    ['clock', '/docs/clock'],
  ])('%s leads to %s', (query, address) => {
    expect(
      search(query)
        .slice(0, 12)
        .map(({ id }) => id),
    ).toContain(address);
  });

  test('requires every term, and finds nothing for a term that does not exist', () => {
    expect(search('payment xyzzyplugh')).toEqual([]);
    expect(search('  ')).toEqual([]);
  });

  test('leads to pages and anchors that exist', () => {
    const ids = new Map<string, string>();
    for (const { id } of ['a', 'e', 'p', 'r', 's', 't', 'w'].flatMap((letter) => search(letter))) {
      const [address = '', anchor] = id.split('#');
      if (address === '/docs/reference') continue;
      const file = address === '/docs' ? 'index' : address.replace('/docs/', '');
      const html = ids.get(file) ?? readFileSync(new URL(`${file}.html`, built), 'utf8');
      ids.set(file, html);
      if (anchor !== undefined) expect(html, id).toContain(` id="${anchor}"`);
    }
    expect(ids.size).toBeGreaterThan(40);
  });

  test('shows an excerpt of a bounded length', () => {
    for (const { excerpt } of search('payment')) expect(excerpt.length).toBeLessThanOrEqual(161);
  });
});
