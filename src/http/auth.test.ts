import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Committed } from '../engine/batch-trail.ts';
import { formatId } from '../kernel/ids.ts';
import { networkListOf } from '../kernel/networks.ts';
import type { Scope } from '../kernel/permissions.ts';
import type { Reader } from '../kernel/table.ts';
import type { KeyOwner } from '../resources/api-keys/store.ts';
import { Authenticator, type Caller, refuseCaller, refuseScope } from './auth.ts';

const key = `sbk_sandbox_${'a'.repeat(32)}`;
const digestOf = (text: string) => hash('sha256', text, 'buffer');
const now = 1_000_000;

function owner(fields: Partial<KeyOwner> = {}): KeyOwner {
  return {
    ...{ orgId: formatId('organization', '1'), orgName: 'Acme' },
    ...{ appId: formatId('application', '1'), appName: 'Shop' },
    ...{ keyId: formatId('api_key', '1'), keyName: 'Main' },
    ...{ feeBasisPoints: 0, feeFixed: 0n, provider: null, fxMarginBasisPoints: 0, fxRates: {} },
    ...{ replaces: null, status: 'active', scopes: ['payments:read'], allowedCidrs: [], expiresAt: null },
    ...{ mayReset: false, faultPlans: null },
    webhookDefaults: {} as KeyOwner['webhookDefaults'],
    ...fields,
  };
}

/** An authenticator over stored keys, and the hashes that it has looked up. */
function withKeys(stored: Record<string, KeyOwner>) {
  const byHash = new Map(Object.entries(stored).map(([text, row]) => [digestOf(text).toString('hex'), row]));
  const lookups: string[] = [];
  const reader = {
    first: (_statement: unknown, [digest]: readonly [Buffer]) => {
      lookups.push(digest.toString('hex'));
      const row = byHash.get(digest.toString('hex'));
      return Promise.resolve(row && { ...row, hash: digest });
    },
  } as unknown as Pick<Reader, 'first'>;
  return { authenticator: new Authenticator(reader), byHash, lookups };
}

const idOf = (found: Awaited<ReturnType<Authenticator['find']>>) =>
  'code' in found ? found.code : found.principal.actor.id;

describe('the Authorization header', () => {
  test.each([
    ['absent', undefined, 'api_key_missing'],
    ['empty', '', 'api_key_missing'],
    ['another scheme', `Basic ${key}`, 'api_key_missing'],
    ['the key alone', key, 'api_key_missing'],
    ['the scheme alone', 'Bearer ', 'api_key_missing'],
    ['two keys', `Bearer ${key} ${key}`, 'api_key_missing'],
    ['no space', `Bearer${key}`, 'api_key_missing'],
    ['something in front', `x Bearer ${key}`, 'api_key_missing'],
    ['a key that is too short', `Bearer ${key.slice(0, -1)}`, 'api_key_invalid'],
    ['a key that is too long', `Bearer ${key}a`, 'api_key_invalid'],
    ['a key of another product', `Bearer ${key.replace('sandbox', 'live')}`, 'api_key_invalid'],
    ['a character that no key has', `Bearer ${key.slice(0, -1)}-`, 'api_key_invalid'],
  ])('%s is refused without a lookup', (_what, header, code) => {
    const { authenticator, lookups } = withKeys({ [key]: owner() });
    expect(authenticator.find(header, now)).toMatchObject({ ok: false, code });
    expect(lookups).toEqual([]);
  });

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer   '])('%s names the scheme', async (scheme) => {
    const { authenticator } = withKeys({ [key]: owner() });
    expect(idOf(await authenticator.find(`${scheme} ${key}`, now))).toBe('key_1');
  });

  test('an unknown key with a valid format is refused', async () => {
    const { authenticator } = withKeys({});
    expect(idOf(await authenticator.find(`Bearer ${key}`, now))).toBe('api_key_invalid');
  });
});

describe('a caller', () => {
  const find = async (fields: Partial<KeyOwner>) =>
    (await withKeys({ [key]: owner(fields) }).authenticator.find(`Bearer ${key}`, now)) as Caller;

  test('has the scopes and rights of its key', async () => {
    const { principal } = await find({ scopes: ['payments:read', 'webhooks:write'], mayReset: true });
    expect([...principal.scopes]).toEqual(['payments:read', 'webhooks:write']);
    expect(principal).toMatchObject({
      orgId: 'org_1',
      appId: 'app_1',
      name: 'Main',
      role: null,
      mayReset: true,
    });
  });

  test('names the key that it replaces, if any', async () => {
    expect((await find({})).principal.actor).toEqual({ kind: 'api_key', id: 'key_1' });
    expect((await find({ replaces: formatId('api_key', '0') })).principal.actor).toMatchObject({
      replaces: 'key_0',
    });
  });

  test('is limited to networks only when its key lists some', async () => {
    expect((await find({})).allowed).toBeUndefined();
    expect((await find({ allowedCidrs: ['10.0.0.0/8'] })).allowed?.check('10.1.1.1')).toBe(true);
  });
});

describe('a key that was found', () => {
  const header = `Bearer ${key}`;

  test('is cached for half a second, and then looked up again', async () => {
    const { authenticator, lookups } = withKeys({ [key]: owner() });
    await authenticator.find(header, now);
    expect(authenticator.find(header, now + 499)).not.toBeInstanceOf(Promise);
    expect(lookups).toHaveLength(1);
    const again = authenticator.find(header, now + 500);
    expect(again).toBeInstanceOf(Promise);
    await again;
    expect(lookups).toHaveLength(2);
  });

  test('is looked up once for requests that arrive together', async () => {
    const { authenticator, lookups } = withKeys({ [key]: owner() });
    await Promise.all([authenticator.find(header, now), authenticator.find(header, now)]);
    expect(lookups).toHaveLength(1);
  });

  test('an unknown key is also cached for half a second', async () => {
    const { authenticator, lookups } = withKeys({});
    await authenticator.find(header, now);
    expect(authenticator.find(header, now + 499)).toMatchObject({ code: 'api_key_invalid' });
    expect(lookups).toHaveLength(1);
  });

  test('is not mistaken for another key', async () => {
    const other = `sbk_sandbox_${'b'.repeat(32)}`;
    const { authenticator } = withKeys({
      [key]: owner(),
      [other]: owner({ keyId: formatId('api_key', '2') }),
    });
    expect(idOf(await authenticator.find(header, now))).toBe('key_1');
    expect(idOf(await authenticator.find(`Bearer ${other}`, now))).toBe('key_2');
  });

  const commit = (changes: object[], deleted: string | null = null) =>
    ({ changes, deleted }) as unknown as Pick<Committed, 'changes' | 'deleted'>;

  test.each<[what: string, committed: Pick<Committed, 'changes' | 'deleted'>, isInvalidated: boolean]>([
    [
      'a key of its application',
      commit([{ resource: 'api_key', row: { id: 'key_9', appId: 'app_1' } }]),
      true,
    ],
    ['its application', commit([{ resource: 'application', row: { id: 'app_1' } }]), true],
    [
      'a key of another application',
      commit([{ resource: 'api_key', row: { id: 'key_9', appId: 'app_2' } }]),
      false,
    ],
    ['another application', commit([{ resource: 'application', row: { id: 'app_2' } }]), false],
    [
      'a payment of its application',
      commit([{ resource: 'payment', row: { id: 'app_1', appId: 'app_1' } }]),
      false,
    ],
    ['the deletion of its organization', commit([], 'org_1'), true],
    ['the deletion of another organization', commit([], 'org_2'), false],
  ])('after a change of %s', async (_what, committed, isInvalidated) => {
    const { authenticator, lookups } = withKeys({ [key]: owner() });
    await authenticator.find(header, now);
    authenticator.onCommit(committed);
    await authenticator.find(header, now);
    expect(lookups).toHaveLength(isInvalidated ? 2 : 1);
  });

  test('a lookup that started before a change is not cached', async () => {
    const { authenticator, byHash, lookups } = withKeys({ [key]: owner() });
    const before = authenticator.find(header, now);
    byHash.set(digestOf(key).toString('hex'), owner({ status: 'revoked' }));
    authenticator.forget('app_1');
    expect(((await before) as Caller).status).toBe('active');
    expect(((await authenticator.find(header, now)) as Caller).status).toBe('revoked');
    expect(lookups).toHaveLength(2);
  });

  test('a failed lookup is retried', async () => {
    let calls = 0;
    const reader = {
      first: () => {
        calls += 1;
        return calls === 1
          ? Promise.reject(new Error('gone'))
          : Promise.resolve({ ...owner(), hash: digestOf(key) });
      },
    } as unknown as Pick<Reader, 'first'>;
    const authenticator = new Authenticator(reader);
    await expect(authenticator.find(header, now)).rejects.toThrow('gone');
    expect(idOf(await authenticator.find(header, now))).toBe('key_1');
  });

  test('a row with another hash admits nobody', async () => {
    const reader = { first: () => Promise.resolve({ ...owner(), hash: digestOf('another') }) };
    const authenticator = new Authenticator(reader as unknown as Pick<Reader, 'first'>);
    await expect(authenticator.find(header, now)).rejects.toThrow('another API key');
  });
});

describe('the checks of a known key', () => {
  const caller = (fields: Partial<Caller> = {}) =>
    ({
      ...{ principal: { orgId: 'org_1' }, status: 'active', expiresAt: null, allowed: undefined },
      ...{ faultPlans: null, ...fields },
    }) as Caller;
  const office = networkListOf(['10.0.0.0/8']);

  test.each<
    [what: string, caller: Caller, organization: string | string[] | undefined, code: string | undefined]
  >([
    ['a valid key', caller(), undefined, undefined],
    ['a revoked key', caller({ status: 'revoked' }), undefined, 'api_key_revoked'],
    ['a key that expires now', caller({ expiresAt: now }), undefined, 'api_key_expired'],
    ['a key that expires in a millisecond', caller({ expiresAt: now + 1 }), undefined, undefined],
    ['a key for another network', caller({ allowed: office }), undefined, 'ip_not_allowed'],
    ['a key for this network', caller({ allowed: networkListOf(['192.0.2.0/24']) }), undefined, undefined],
    ['the right organization', caller(), 'org_1', undefined],
    ['another organization', caller(), 'org_2', 'organization_mismatch'],
    ['an empty organization', caller(), '', 'organization_mismatch'],
    ['two organizations', caller(), ['org_1', 'org_1'], 'organization_mismatch'],
    ['revoked before expired', caller({ status: 'revoked', expiresAt: 0 }), 'org_2', 'api_key_revoked'],
    ['expired before network', caller({ expiresAt: 0, allowed: office }), 'org_2', 'api_key_expired'],
    ['network before organization', caller({ allowed: office }), 'org_2', 'ip_not_allowed'],
  ])('%s', (_what, one, organization, code) => {
    expect(refuseCaller(one, { ip: '192.0.2.1', organization }, now)?.code).toBe(code);
  });
});

test.each<[needed: Scope | 'any' | readonly Scope[], missing: Scope | undefined]>([
  ['any', undefined],
  ['payments:read', undefined],
  ['payments:write', 'payments:write'],
  [['payments:read', 'customers:read'], undefined],
  [['payments:read', 'webhooks:read', 'payments:write'], 'webhooks:read'],
])('a key that can read payments and customers lacks, of %j, %s', (needed, missing) => {
  const scopes = new Set<Scope>(['payments:read', 'customers:read']);
  const refusal = refuseScope({ name: 'Main', scopes } as unknown as Caller['principal'], needed);
  expect(refusal?.details).toEqual(missing === undefined ? undefined : { scope: missing });
  expect(refusal?.code).toBe(missing === undefined ? undefined : 'scope_missing');
});
