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
    ...{ mayReset: false, faultPlans: null, revision: '1' },
    webhookDefaults: {} as KeyOwner['webhookDefaults'],
    ...fields,
  };
}

/** An authenticator over stored keys, the hashes that it has looked up, and those that it has confirmed, for each statement. */
function withKeys(stored: Record<string, KeyOwner>) {
  const byHash = new Map(Object.entries(stored).map(([text, row]) => [digestOf(text).toString('hex'), row]));
  const lookups: string[] = [];
  const confirmed: string[][] = [];
  const reader = {
    first: (_statement: unknown, [digest]: readonly [Buffer]) => {
      lookups.push(digest.toString('hex'));
      const row = byHash.get(digest.toString('hex'));
      return Promise.resolve(row && { ...row, hash: digest });
    },
    rows: (_statement: unknown, [digests, revisions]: readonly [Buffer[], (string | null)[]]) => {
      const hashes = digests.map((digest) => digest.toString('hex'));
      confirmed.push(hashes);
      const changed = hashes.flatMap((one, i) =>
        (byHash.get(one)?.revision ?? null) === revisions[i] ? [] : [{ n: i + 1 }],
      );
      return Promise.resolve(changed);
    },
  } as unknown as Pick<Reader, 'first' | 'rows'>;
  return { authenticator: new Authenticator(reader), byHash, lookups, confirmed };
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

  test('is trusted for half a second, and then confirmed before it is used again', async () => {
    const { authenticator, lookups, confirmed } = withKeys({ [key]: owner() });
    await authenticator.find(header, now);
    expect(authenticator.find(header, now + 499)).not.toBeInstanceOf(Promise);
    expect(confirmed).toEqual([]);
    expect(idOf(await authenticator.find(header, now + 500))).toBe('key_1');
    expect(confirmed).toEqual([[digestOf(key).toString('hex')]]);
    expect(authenticator.find(header, now + 999)).not.toBeInstanceOf(Promise);
    expect(lookups).toHaveLength(1);
  });

  test.each([
    ['revoked', owner({ status: 'revoked', revision: '2' }), 'revoked'],
    ['deleted', undefined, 'api_key_invalid'],
  ])('is looked up again when another node has %s it', async (_what, changed, found) => {
    const { authenticator, byHash } = withKeys({ [key]: owner() });
    await authenticator.find(header, now);
    if (changed) byHash.set(digestOf(key).toString('hex'), changed);
    else byHash.clear();
    const after = await authenticator.find(header, now + 500);
    expect('code' in after ? after.code : after.status).toBe(found);
  });

  test('that another node creates is found, although it was unknown before', async () => {
    const { authenticator, byHash } = withKeys({});
    expect(idOf(await authenticator.find(header, now))).toBe('api_key_invalid');
    byHash.set(digestOf(key).toString('hex'), owner());
    expect(idOf(await authenticator.find(header, now + 500))).toBe('key_1');
  });

  describe('among others', () => {
    const texts = ['a', 'b', 'c', 'd'].map((letter) => `sbk_sandbox_${letter.repeat(32)}`);
    const findAll = async (authenticator: Authenticator, of: readonly string[], at: number) => {
      for (const text of of) await authenticator.find(`Bearer ${text}`, at);
    };
    const stored = Object.fromEntries(texts.map((text) => [text, owner()]));
    const hashesOf = (of: readonly string[]) => of.map((text) => digestOf(text).toString('hex'));

    test('is confirmed together with all others in use', async () => {
      const { authenticator, confirmed } = withKeys(stored);
      await findAll(authenticator, texts, now);
      await findAll(authenticator, texts.slice(0, 3), now + 400);
      await findAll(authenticator, texts.slice(0, 3), now + 500);
      expect(confirmed).toEqual([hashesOf(texts.slice(0, 3))]);
      // The last one was not in use, so it is confirmed alone.
      await findAll(authenticator, texts, now + 600);
      expect(confirmed.slice(1)).toEqual([hashesOf(texts.slice(3))]);
    });

    test('is confirmed once by requests that arrive together', async () => {
      const { authenticator, confirmed } = withKeys(stored);
      await findAll(authenticator, texts, now);
      await findAll(authenticator, texts, now + 400);
      await Promise.all(texts.map((text) => authenticator.find(`Bearer ${text}`, now + 700)));
      expect(confirmed).toEqual([hashesOf(texts)]);
    });

    test('is the only one to be dropped when it has changed', async () => {
      const { authenticator, byHash, lookups } = withKeys(stored);
      await findAll(authenticator, texts, now);
      await findAll(authenticator, texts, now + 400);
      byHash.set(hashesOf(texts)[2] ?? '', owner({ status: 'revoked', revision: '2' }));
      await findAll(authenticator, texts, now + 500);
      expect(lookups.slice(texts.length)).toEqual(hashesOf(texts.slice(2, 3)));
    });
  });

  test('leaves nothing behind each time this node changes it', async () => {
    const { authenticator, confirmed } = withKeys({ [key]: owner() });
    for (let change = 0; change < 5; change += 1) {
      await authenticator.find(header, now);
      await authenticator.find(header, now);
      authenticator.forget('app_1');
    }
    await authenticator.find(header, now);
    await authenticator.find(header, now + 500);
    expect(confirmed).toEqual([[digestOf(key).toString('hex')]]);
  });

  test('is looked up again when this node changes it while it is being confirmed', async () => {
    const { authenticator, byHash, lookups } = withKeys({ [key]: owner() });
    await authenticator.find(header, now);
    const later = authenticator.find(header, now + 500);
    byHash.set(digestOf(key).toString('hex'), owner({ status: 'revoked', revision: '2' }));
    authenticator.forget('app_1');
    expect(((await later) as Caller).status).toBe('revoked');
    expect(lookups).toHaveLength(2);
  });

  test('is looked up once for requests that arrive together', async () => {
    const { authenticator, lookups } = withKeys({ [key]: owner() });
    await Promise.all([authenticator.find(header, now), authenticator.find(header, now)]);
    expect(lookups).toHaveLength(1);
  });

  test('an unknown key is also trusted to be unknown for half a second', async () => {
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
    } as unknown as Pick<Reader, 'first' | 'rows'>;
    const authenticator = new Authenticator(reader);
    await expect(authenticator.find(header, now)).rejects.toThrow('gone');
    expect(idOf(await authenticator.find(header, now))).toBe('key_1');
  });

  test('a row with another hash admits nobody', async () => {
    const reader = { first: () => Promise.resolve({ ...owner(), hash: digestOf('another') }) };
    const authenticator = new Authenticator(reader as unknown as Pick<Reader, 'first' | 'rows'>);
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
