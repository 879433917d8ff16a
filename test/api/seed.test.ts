import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applySeed, checkedSeed, SeedProblem } from '../../src/admin/seed.ts';
import type { Seed } from '../../src/admin/seed-schema.ts';
import type { Database } from '../../src/db/database.ts';
import { DatabaseFailure } from '../../src/db/failure.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, openEngine, openServer } from '../support/server.ts';

const key = (last: string) => `sbk_sandbox_${last.padStart(32, '0')}`;

function seedOf(name: string, apiKey: object, application = 'web'): Seed {
  const apiKeys = [{ name: 'ci', scopes: ['payments:read'], ...apiKey }];
  return checkedSeed(
    { organizations: [{ name, applications: [{ name: application, apiKeys }] }] },
    'The seed',
  );
}

describe.each(databaseKinds)('a seed file on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server.close());

  const apply = (seed: Seed) => applySeed(seed, server, Date.now);
  const count = async (table: string) => {
    const [row] = await server.database.query<{ n: bigint }>(
      { name: '', text: `select count(*) as n from ${table}` },
      [],
    );
    return row?.n;
  };
  // The authenticator caches a key for a second, so this reads the row.
  const stored = async (last: string) => {
    const text = 'select status, scopes, name, version from api_keys where last_four = $1';
    const [row] = await server.database.query<object>({ name: '', text }, [last]);
    return row;
  };

  it('can be applied repeatedly: creates no duplicates and no history', async () => {
    await apply(seedOf('Again', { key: key('aa01') }));
    const before = await Promise.all(
      ['organizations', 'applications', 'api_keys', 'state_history'].map(count),
    );
    await apply(seedOf('Again', { key: key('aa01') }));
    await Promise.all([
      apply(seedOf('Again', { key: key('aa01') })),
      apply(seedOf('Again', { key: key('aa01') })),
    ]);
    expect(
      await Promise.all(['organizations', 'applications', 'api_keys', 'state_history'].map(count)),
    ).toEqual(before);
  });

  it('survives a lost database connection while it is applied', async () => {
    let lost = 0;
    const lose = () => {
      lost += 1;
      return Promise.reject(new DatabaseFailure('unavailable', new Error('connection lost')));
    };
    const { database } = server;
    const cut: Database = {
      ...database,
      finish: (...args) => (lost === 0 ? lose() : database.finish(...args)),
      transaction: (work) => (lost === 0 ? lose() : database.transaction(work)),
    };
    await applySeed(
      seedOf('Cut', { key: key('cc09') }),
      { ...server, engine: openEngine(cut, { vault: server.vault }) },
      Date.now,
    );
    expect(lost).toBe(1);
    expect(await stored('cc09')).toMatchObject({ status: 'active', version: 1 });
  });

  it('applies changed declarations', async () => {
    await apply(seedOf('Change', { key: key('bb01') }));
    await apply(seedOf('Change', { key: key('bb01'), name: 'new', scopes: ['customers:read'] }));
    expect(await stored('bb01')).toEqual({
      status: 'active',
      scopes: ['customers:read'],
      name: 'new',
      version: 2,
    });
  });

  it('revokes a key permanently', async () => {
    await apply(seedOf('Revoke', { key: key('cc01'), revoked: true }));
    expect(await stored('cc01')).toMatchObject({ status: 'revoked', version: 2 });
    await apply(seedOf('Revoke', { key: key('cc01') }));
    expect(await stored('cc01')).toMatchObject({ status: 'revoked', version: 2 });
  });

  it('rejects one key for two owners', async () => {
    await apply(seedOf('Owner', { key: key('dd01') }));
    await expect(apply(seedOf('Thief', { key: key('dd01') }))).rejects.toThrow(SeedProblem);
    await expect(apply(seedOf('Owner', { key: key('dd01') }, 'other'))).rejects.toThrow(
      'a key has one owner',
    );
  });

  it('stores no key: only its hash and its last four characters', async () => {
    await apply(seedOf('Hash', { key: key('ee01') }));
    for (const table of ['api_keys', 'audit', 'state_history', 'events']) {
      const rows = await server.database.query<object>(
        { name: '', text: `select row_to_json(t)::text as row from ${table} t` },
        [],
      );
      expect(JSON.stringify(rows)).not.toContain(key('ee01'));
    }
  });

  const webhookSeed = (name: string, webhook: object): Seed =>
    checkedSeed(
      { organizations: [{ name, applications: [{ name: 'web', webhooks: [webhook] }] }] },
      'The seed',
    );
  const secret = `whsec_${'A'.repeat(43)}=`;
  const webhook = async (url: string) => {
    const text = 'select status, version, event_types as types, secrets from webhooks where url = $1';
    const rows = await server.database.query<{
      version: number;
      types: string[];
      secrets: { sealed: string }[];
    }>({ name: '', text }, [url]);
    expect(rows).toHaveLength(1);
    return rows[0];
  };

  it('declares webhooks repeatedly; a changed secret is rotated, an omitted one is generated and printed once', async () => {
    const url = `http://127.0.0.1:9000/${kind}`;
    expect(await apply(webhookSeed('Hooks', { url, secret }))).toEqual([]);
    const first = await webhook(url);
    expect(first).toMatchObject({ status: 'enabled', version: 1, types: ['*'] });
    expect(JSON.stringify(first)).not.toContain('A'.repeat(8));
    await apply(webhookSeed('Hooks', { url, secret }));
    await apply(webhookSeed('Hooks', { url }));
    expect(await webhook(url)).toEqual(first);
    await apply(webhookSeed('Hooks', { url, secret, eventTypes: ['payment.*'], retryProfile: 'fast' }));
    expect(await webhook(url)).toMatchObject({ version: 2, types: ['payment.*'], secrets: first?.secrets });
    await apply(webhookSeed('Hooks', { url, secret: `whsec_${'B'.repeat(43)}=` }));
    expect((await webhook(url))?.secrets).not.toEqual(first?.secrets);

    const other = `${url}/other`;
    const created = await apply(webhookSeed('Hooks', { url: other }));
    expect(created).toEqual([{ url: other, secret: expect.stringMatching(/^whsec_.{44}$/) }]);
    expect(await apply(webhookSeed('Hooks', { url: other }))).toEqual([]);
  });

  it('rejects webhook URLs that could never be sent to, with a readable message', async () => {
    expect(() => webhookSeed('Bad', { url: 'http://x.test', eventTypes: ['payment.capture'] })).toThrow(
      SeedProblem,
    );
    expect(() => webhookSeed('Bad', { url: 'http://x.test', secret: 'whsec_short' })).toThrow(SeedProblem);
    const seed = webhookSeed('Bad', { url: 'http://me:secret@x.test/' });
    await expect(apply(seed)).rejects.toThrow(/contains credentials/);
  });
});

describe('the seed file format', () => {
  it.each([
    [{ key: 'sbk_live_0123' }, '/key'],
    [{ key: key('1'), scopes: ['everything'] }, '/scopes'],
    [{ key: key('1'), expiresAt: 'tomorrow' }, 'RFC 3339'],
    [{ key: key('1'), allowedCidrs: ['10.0.0.0/33'] }, '10.0.0.0/33'],
    [{ key: key('1'), allowedCidrs: ['::1/8/8'] }, '::1/8/8'],
    [{ key: key('1'), colour: 'red' }, '/colour'],
  ])('is rejected with the path of the error: %j', (apiKey, message) => {
    expect(() => seedOf('Form', apiKey)).toThrow(message);
  });

  it('accepts exchange rates for supported currencies only', () => {
    const rated = (rates: Record<string, string>) => () =>
      checkedSeed(
        { organizations: [{ name: 'Acme', applications: [{ name: 'web', fx: { rates } }] }] },
        'The seed',
      );
    expect(rated({ 'EUR/USD': '1.25', 'AOA/EUR': '0.001' })).not.toThrow();
    expect(rated({ 'EUR/XXX': '1.25' })).toThrow('"XXX" in the rates of organization "Acme"');
    expect(rated({ 'EUR/USD': '0' })).toThrow('EUR~1USD');
    expect(rated({ 'eur/usd': '1' })).toThrow('eur');
  });

  it('accepts users and webhooks', () => {
    const users = [{ email: 'dev@acme.test', password: 'correct horse battery', role: 'owner' }];
    const webhooks = [{ url: 'http://127.0.0.1:9000/hook', eventTypes: ['*'], retryProfile: 'fast' }];
    const seed = (some: unknown) =>
      checkedSeed(
        { organizations: [{ name: 'Acme', users: some, applications: [{ name: 'web', webhooks }] }] },
        'The seed',
      );
    expect(() => seed(users)).not.toThrow();
    expect(() => seed([{ ...users[0], password: 'short' }])).toThrow('/password');
  });
});
