import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { checkedSeed } from '../../src/admin/seed.ts';
import { seedSchemaDocument } from '../../src/admin/seed-schema.ts';
import { completeSeed } from '../support/complete-seed.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

// As in an editor: the document alone, with the RFC 3339 formats.
const ajv = new Ajv({ strict: true, strictTypes: false });
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/);
const validate = ajv.compile(JSON.parse(JSON.stringify(seedSchemaDocument)));

const isAcceptedByServer = (seed: unknown): boolean => {
  try {
    checkedSeed(seed, 'The seed');
    return true;
  } catch {
    return false;
  }
};

const apiKey = (settings: object) => ({
  name: 'ci',
  key: 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01',
  scopes: ['payments:read'],
  ...settings,
});
const organization = (settings: object) => ({ organizations: [{ name: 'Acme', ...settings }] });
const application = (settings: object) => organization({ applications: [{ name: 'web', ...settings }] });
const user = (settings: object) =>
  organization({
    users: [{ email: 'dev@acme.test', password: 'correct horse battery', role: 'owner', ...settings }],
  });
const key = (settings: object) => application({ apiKeys: [apiKey(settings)] });
const webhook = (settings: object) =>
  application({ webhooks: [{ url: 'http://127.0.0.1:9000/', ...settings }] });

/** The seeds in the documentation: JSON blocks that declare organizations. */
const documented = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) =>
    [...read(path).matchAll(/```json\n([\s\S]*?)```|'(\{"organizations"[\s\S]*?\})'/g)].flatMap(
      ([, block, quoted]) => {
        const text = block ?? quoted ?? '';
        return /^\s*\{\s*("\$schema"[^,]*,\s*)?"organizations"/.test(text) ? [[path, text] as const] : [];
      },
    ),
  );

const accepted: readonly (readonly [string, string])[] = [
  ['examples/seed.json', read('examples/seed.json')],
  ['a seed with every field', JSON.stringify(completeSeed)],
  ['a seed without organizations', '{"organizations":[]}'],
  ['a seed that names its schema', '{"$schema":"./seed.schema.json","organizations":[]}'],
  ['an application without a provider', JSON.stringify(application({ provider: null }))],
  ...documented,
];

describe('the seed schema accepts every seed that the server accepts', () => {
  test('finds the seeds in the documentation', () => {
    expect(documented).not.toEqual([]);
  });

  test.each(accepted)('%s', (_name, text) => {
    const seed: unknown = JSON.parse(text);
    expect(validate(seed), JSON.stringify(validate.errors)).toBe(true);
    expect(isAcceptedByServer(seed)).toBe(true);
  });
});

const refused: readonly (readonly [string, unknown])[] = [
  ['no object', []],
  ['no organizations', {}],
  ['an unknown field', { organizations: [], organisations: [] }],
  ['a schema that is not a string', { $schema: 1, organizations: [] }],
  ['a schema below the top level', organization({ $schema: './seed.schema.json' })],
  ['an organization without a name', { organizations: [{}] }],
  ['an empty name', { organizations: [{ name: '' }] }],
  ['a name that is too long', { organizations: [{ name: 'x'.repeat(201) }] }],
  ['an email without a domain', user({ email: 'dev@acme' })],
  ['a short password', user({ password: 'hunter2' })],
  ['an unknown role', user({ role: 'root' })],
  ['takeOver as a string', user({ takeOver: 'yes' })],
  ['an incomplete fee', application({ fee: { basisPoints: 290 } })],
  ['a fee of more than all', application({ fee: { basisPoints: 10_001, fixedAmount: 0 } })],
  ['an unknown provider', application({ provider: 'acme' })],
  ['a rate as a number', application({ fx: { rates: { 'EUR/USD': 1.25 } } })],
  ['a rate of zero', application({ fx: { rates: { 'EUR/USD': '0' } } })],
  ['a pair in lower case', application({ fx: { rates: { 'eur/usd': '1.25' } } })],
  ['a margin that is too large', application({ fx: { marginBasisPoints: 5_001 } })],
  ['incomplete webhook defaults', application({ webhookDefaults: { retryProfile: 'fast' } })],
  ['a webhook without a URL', application({ webhooks: [{}] })],
  ['a secret without its prefix', webhook({ secret: 'secret' })],
  ['no event types', webhook({ eventTypes: [] })],
  ['an unknown event type', webhook({ eventTypes: ['payment.paid'] })],
  ['an event type twice', webhook({ eventTypes: ['*', '*'] })],
  ['an unknown retry profile', webhook({ retryProfile: 'slow' })],
  ['no concurrency', webhook({ maxConcurrency: 0 })],
  ['too many webhooks', application({ webhooks: Array(101).fill({ url: 'http://127.0.0.1:9000/' }) })],
  ['a key of another form', key({ key: 'sk_test_1' })],
  ['an unknown scope', key({ scopes: ['payments:all'] })],
  ['a scope twice', key({ scopes: ['payments:read', 'payments:read'] })],
  ['an expiry that is not a time', key({ expiresAt: 'tomorrow' })],
  ['a network that is not a string', key({ allowedCidrs: [10] })],
  ['too many networks', key({ allowedCidrs: Array(51).fill('10.0.0.0/8') })],
  ['mayReset as a number', key({ mayReset: 1 })],
  ['a misspelt field of a key', key({ expires_at: '2030-01-01T00:00:00Z' })],
];

describe('the seed schema rejects every seed that the server rejects', () => {
  test.each(refused)('%s', (_name, seed) => {
    expect(isAcceptedByServer(seed)).toBe(false);
    expect(validate(seed)).toBe(false);
  });

  // These rules need the list of currencies, the parsing of networks or the calendar.
  test.each([
    ['an unknown currency', application({ fx: { rates: { 'EUR/XXX': '1.25' } } })],
    ['a network without a valid prefix', key({ allowedCidrs: ['10.0.0.0/99'] })],
    ['a day that does not exist', key({ expiresAt: '2030-02-30T00:00:00Z' })],
  ])('except %s, which only the server checks', (_name, seed) => {
    expect(isAcceptedByServer(seed)).toBe(false);
    expect(validate(seed)).toBe(true);
  });
});

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

test('every field of the seed schema has a description, for the editor', () => {
  const undescribed = (node: Node, at: string): readonly string[] => [
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
      ...(field.description ? [] : [`${at}/${name}`]),
      ...undescribed(field, `${at}/${name}`),
    ]),
    ...(node.items ? undescribed(node.items, `${at}[]`) : []),
  ];
  expect(undescribed(seedSchemaDocument, '')).toEqual([]);
});
