import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { snapshotsIn } from '../../../cli/commands/snapshots.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';

interface Tenant {
  readonly organization: { readonly id: string; readonly name: string };
  readonly apiKey: { readonly key: string };
}

describe('operator commands', () => {
  let world: CommandWorld;
  let folder: string;
  beforeAll(async () => {
    world = await openCommandWorld();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-operator-'));
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const asTenant = ({ apiKey }: Tenant) => ({ env: { ...world.env, SANDBANK_API_KEY: apiKey.key } });

  test('creates an organization with a working key, and lists it', async () => {
    const tenant = await world.json<Tenant>([
      'organizations',
      'create',
      'Team Blue',
      '--application',
      'shop',
      '--key-name',
      'ci',
    ]);
    expect(tenant).toMatchObject({
      object: 'tenant',
      organization: { name: 'Team Blue' },
      application: { name: 'shop' },
    });
    const status = await run(['status', '--json'], asTenant(tenant));
    expect(JSON.parse(status.stdout)).toMatchObject({
      organization: tenant.organization,
      apiKey: { name: 'ci' },
    });
    const output = await world.sandbank('organizations', 'list');
    expect(output.stdout).toMatch(/^ORGANIZATION +NAME +CREATED\n[\s\S]*Team Blue/);
    const created = await world.sandbank('organizations', 'create', 'Shown');
    expect([created.stdout, created.stderr]).toEqual([
      expect.stringMatching(/key +sbk_sandbox_\w+/),
      'Store the key now: it is not shown again.\n',
    ]);
  });

  test("creates a key for the current key's organization, or for a named one", async () => {
    const createdKey = await world.json<{ key: string; scopes: string[] }>([
      'keys',
      'create',
      '--name',
      'narrow',
      '--scopes',
      'payments:read',
    ]);
    expect(createdKey).toMatchObject({ object: 'api_key', name: 'narrow', scopes: ['payments:read'] });
    const env = { ...world.env, SANDBANK_API_KEY: createdKey.key };
    const status = await run(['status', '--json'], { env });
    expect(JSON.parse(status.stdout)).toMatchObject({ organization: { id: world.owner.orgId } });
    const refused = await run(['payments', 'create', '--minor', '1'], { env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/scope_missing, 403/)]);
    const tenant = await world.json<Tenant>(['organizations', 'create', 'Team Red']);
    const red = await world.json<{ key: string }>(['keys', 'create', '--organization', 'Team Red']);
    expect(
      JSON.parse(
        (await run(['status', '--json'], { env: { ...world.env, SANDBANK_API_KEY: red.key } })).stdout,
      ),
    ).toMatchObject({ organization: tenant.organization });
    await world.json(['organizations', 'create', 'Team Red']);
    const twice = await world.sandbank('keys', 'create', '--organization', 'Team Red');
    expect([twice.code, twice.stderr]).toEqual([
      2,
      expect.stringMatching(/Several organizations are called "Team Red".*org_/),
    ]);
    const unknownOrganization = await world.sandbank('keys', 'create', '--organization', 'Nobody');
    expect([unknownOrganization.code, unknownOrganization.stderr]).toEqual([
      1,
      expect.stringMatching(/no organization called "Nobody"/),
    ]);
  });

  test('reset deletes the records of one organization, and requires --yes without a terminal', async () => {
    const tenant = await world.json<Tenant>(['organizations', 'create', 'Team Green']);
    const runJson = (...args: string[]) => run([...args, '--json'], asTenant(tenant));
    await runJson('payments', 'create', '--minor', '100');
    const withoutYes = await runJson('reset');
    expect([withoutYes.code, withoutYes.stderr]).toEqual([
      2,
      expect.stringMatching(/deletes all records of Team Green at .*--yes/),
    ]);
    const reset = await runJson('reset', '--yes');
    expect([reset.code, JSON.parse(reset.stdout)]).toMatchObject([
      0,
      { object: 'reset', deleted: { payments: 1 } },
    ]);
    expect(JSON.parse((await runJson('payments', 'list')).stdout)).toMatchObject({ data: [] });
    await runJson('payments', 'create', '--minor', '100');
    const byOperator = await world.sandbank('reset', '--organization', 'Team Green', '--yes');
    expect([byOperator.code, byOperator.stdout]).toEqual([
      0,
      expect.stringMatching(/^Deleted:\n[\s\S]*payments +1/),
    ]);
  });

  test('exports an organization, compressed or not, and imports it as a fork with new keys', async () => {
    const tenant = await world.json<Tenant>(['organizations', 'create', 'Team Gold']);
    await run(['payments', 'create', '--minor', '100'], asTenant(tenant));
    const file = join(folder, 'gold.jsonl.gz');
    const exported = await world.json<{ bytes: number }>([
      'export',
      '--organization',
      tenant.organization.id,
      file,
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    expect(text.length).toBe(exported.bytes);
    expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
      format: 'sandbank-snapshot',
      hasSecrets: false,
    });
    const forked = await world.json<{ apiKeys: { key: string }[]; organization: { name: string } }>([
      'import',
      file,
      '--fork',
      '--name',
      'Gold, a copy',
    ]);
    expect(forked).toMatchObject({ object: 'import', organization: { name: 'Gold, a copy' } });
    const env = { ...world.env, SANDBANK_API_KEY: forked.apiKeys[0]?.key ?? '' };
    expect(JSON.parse((await run(['payments', 'list', '--json'], { env })).stdout)).toMatchObject({
      data: [{ amount: 100 }],
    });
    expect((await world.sandbank('import', file, '--name', 'alone')).code).toBe(2);
    const piped = await run(['export', '--organization', tenant.organization.id, '-'], { env: world.env });
    expect(piped.stdout.split('\n')[0]).toContain('sandbank-snapshot');
  });

  test('rejects a file that is not a snapshot before sending anything, and splits a file with several snapshots', async () => {
    const { code, stderr } = await world.sandbank('import', new URL(import.meta.url).pathname);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/not a snapshot/)]);
    expect((await world.sandbank('import', join(folder, 'nothing.jsonl'))).stderr).toMatch(/ENOENT/);
    const one = '{"format":"sandbank-snapshot","version":1}\n{"table":"payments","row":{}}\n';
    expect(snapshotsIn(one + one)).toEqual([one, one]);
  });

  test('shows coverage, writes it as JUnit XML and compares it with a threshold', async () => {
    const tenant = await world.json<Tenant>(['organizations', 'create', 'Team Grey']);
    await run(['payments', 'create', '--minor', '100'], asTenant(tenant));
    const xml = join(folder, 'coverage.xml');
    const shown = await run(
      ['coverage', '--missing', '--junit', xml, '--resource', 'payment'],
      asTenant(tenant),
    );
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^KIND +COVERED +OF[\s\S]+Not covered:\n[\s\S]*payment\.charged_back/);
    expect(readFileSync(xml, 'utf8')).toMatch(/<testsuites [\s\S]*<skipped message="not met"\/>/);
    const short = await run(['coverage', '--fail-under', '99', '--json'], asTenant(tenant));
    expect([short.code, JSON.parse(short.stdout)]).toMatchObject([1, { object: 'coverage' }]);
    expect((await run(['coverage', '--fail-under', '0'], asTenant(tenant))).code).toBe(0);
    expect((await run(['coverage', '--reset'], asTenant(tenant))).code).toBe(0);
  });

  test('creates a fault plan that affects the next request, lists it and cancels it', async () => {
    const plan = await world.json<{ id: string; seed: number }>([
      'faults',
      'create',
      'error',
      '--code',
      'internal_error',
      '--count',
      '2',
      '--operations',
      'createCustomer',
    ]);
    expect(plan).toMatchObject({
      object: 'fault_plan',
      status: 'active',
      on: 'requests',
      fault: { type: 'error', code: 'internal_error' },
    });
    // The client retries automatically: two faults, then success.
    expect((await world.json(['customers', 'create', '--name', 'Patient'])).object).toBe('customer');
    expect((await world.sandbank('faults', 'list')).stdout).toMatch(
      new RegExp(`${plan.id} +exhausted +error +requests +2 +2`),
    );
    const other = await world.json<{ id: string }>([
      'faults',
      'create',
      'duplicate',
      '--share',
      '20',
      '--events',
      'payment.*',
    ]);
    expect(await world.json(['faults', 'cancel', other.id])).toMatchObject({ status: 'canceled' });
  });

  test('rejects an incomplete fault plan before sending anything', async () => {
    for (const [args, message] of [
      [['explode', '--count', '1'], /"explode" is not a valid fault\. Allowed values: latency, error/],
      [['latency', '--count', '1'], /--delay-ms is missing/],
      [['drop'], /--count or --share is missing/],
    ] as const) {
      const { code, stderr } = await world.sandbank('faults', 'create', ...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
  });
});
