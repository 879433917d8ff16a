import { describe, expect, test } from 'vitest';
import type { ListedApiKey } from '../../generated/shapes.ts';
import { changesOf, draftOf, expiryOf, type KeyDraft, missingIn, networksOf, newDraft } from './draft.ts';
import {
  describeScopes,
  knownScopes,
  presetOf,
  presets,
  scopesOfPreset,
  withScope,
} from './scope-presets.ts';

const apiKey: ListedApiKey = {
  object: 'api_key',
  sandbox: true,
  id: 'key_1',
  applicationId: 'app_1',
  name: 'Checkout',
  lastFour: 'abcd',
  scopes: ['payments:read', 'payments:write'],
  allowedCidrs: ['10.0.0.0/8', '192.0.2.1'],
  expiresAt: '2027-01-01T00:00:00.000Z',
  mayReset: false,
  replaces: null,
  replacedBy: null,
  lastUsedAt: null,
  lastUsedIp: null,
  status: 'active',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

describe('an edited key', () => {
  test.each<[string, Partial<KeyDraft>, object]>([
    ['nothing', {}, {}],
    ['spaces around the name', { name: ' Checkout ' }, {}],
    ['the name', { name: ' Shop ' }, { name: 'Shop' }],
    ['the order of the scopes', { scopes: ['payments:write', 'payments:read'] }, {}],
    ['fewer scopes', { scopes: ['payments:read'] }, { scopes: ['payments:read'] }],
    ['no expiry', { expiresAt: null }, { expiresAt: null }],
    ['the order of the networks', { networks: '192.0.2.1\n10.0.0.0/8' }, {}],
    ['blank lines and a repeated network', { networks: '\n10.0.0.0/8 \n10.0.0.0/8\n192.0.2.1\n' }, {}],
    ['no networks', { networks: '' }, { allowedCidrs: [] }],
    ['permission to reset', { mayReset: true }, { mayReset: true }],
  ])('with %s changed sends only the difference', (_, part, changes) => {
    expect(changesOf(apiKey, { ...draftOf(apiKey), ...part })).toStrictEqual(changes);
  });

  test('without a network restriction shows no networks and sends none', () => {
    const open = { ...apiKey, allowedCidrs: [] };
    expect(draftOf(open).networks).toBe('');
    expect(changesOf(open, draftOf(open))).toEqual({});
  });
});

test('networks are one per line, trimmed, without repetition', () => {
  expect(networksOf({ ...newDraft, networks: ' a \r\n\nb\na' })).toEqual(['a', 'b']);
});

test.each<[Partial<KeyDraft>, string[]]>([
  [{ name: 'Shop' }, []],
  [{ name: ' ' }, ['name']],
  [{ name: 'Shop', scopes: [] }, ['scopes']],
  [{ name: 'Shop', expiresAt: '' }, ['expiresAt']],
  [{ name: 'Shop', expiresAt: '2027-01-01T23:59:59.999Z' }, []],
  [{ name: '', scopes: [], expiresAt: '' }, ['name', 'scopes', 'expiresAt']],
])('the draft %j lacks %j', (part, names) => {
  const missing = Object.entries(missingIn({ ...newDraft, ...part })).filter(
    ([, text]) => text !== undefined,
  );
  expect(missing.map(([name]) => name)).toEqual(names);
});

test.each([
  ['never', null],
  ['date', ''],
  ['30', '2026-03-02T12:00:00.000Z'],
  ['90', '2026-05-01T12:00:00.000Z'],
])('the expiry choice %s is %s', (choice, expiresAt) => {
  expect(expiryOf(choice, Date.parse('2026-01-31T12:00:00.000Z'))).toBe(expiresAt);
});

describe('scope presets', () => {
  test.each([
    ['full', knownScopes],
    ['read', ['payments:read', 'customers:read', 'transfers:read', 'webhooks:read']],
    ['payments', ['payments:read', 'payments:write', 'customers:read', 'customers:write']],
    ['transfers', ['transfers:read', 'transfers:write']],
    ['webhooks', ['webhooks:read', 'webhooks:write']],
    ['custom', []],
  ])('%s selects %j', (value, scopes) => {
    expect(scopesOfPreset(value, knownScopes)).toEqual(scopes);
  });

  test.each(presets.map(({ value }) => value))(
    'the selection of %s is recognized as that preset',
    (value) => {
      expect(presetOf(scopesOfPreset(value, knownScopes).toReversed(), knownScopes)?.value).toBe(value);
    },
  );

  test('full access includes a scope that only the server knows', () => {
    expect(scopesOfPreset('full', [...knownScopes, 'reports:read'])).toContain('reports:read');
  });

  test.each<[string[], string, boolean, string[]]>([
    [[], 'payments:write', true, ['payments:write']],
    [['webhooks:read'], 'payments:read', true, ['payments:read', 'webhooks:read']],
    [['payments:read', 'webhooks:read'], 'payments:read', false, ['webhooks:read']],
    [['payments:read'], 'payments:read', true, ['payments:read']],
    [['payments:read'], 'webhooks:read', false, ['payments:read']],
  ])('%j with %s switched to %s is %j', (scopes, scope, isOn, result) => {
    expect(withScope(scopes, knownScopes, scope, isOn)).toEqual(result);
  });

  test('no single scope of a preset can be removed without leaving it', () => {
    for (const { value } of presets) {
      const scopes = scopesOfPreset(value, knownScopes);
      for (const scope of scopes)
        expect(presetOf(withScope(scopes, knownScopes, scope, false), knownScopes)?.value).not.toBe(value);
    }
  });

  test.each([
    [knownScopes, 'Full access'],
    [knownScopes.filter((scope) => scope.endsWith(':read')), 'Read only'],
    [['payments:read', 'payments:write', 'customers:read'], 'payments, customers:read'],
    [['webhooks:read', 'webhooks:write'], 'webhooks'],
    [['transfers:write'], 'transfers:write'],
  ])('%j is described as %s', (scopes, text) => {
    expect(describeScopes(scopes)).toBe(text);
  });
});
