import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { freePort } from '../../support/processes.ts';
import { newKey } from '../../support/tenant.ts';

interface JsonOutput {
  readonly id: string;
  readonly [field: string]: unknown;
}

describe('records from the command line', () => {
  let world: CommandWorld;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());

  test('takes a payment from creation to refund, with amounts in either unit', async () => {
    const { json } = world;
    const created = await json<JsonOutput>([
      'payments',
      'create',
      '--amount',
      '12.50',
      '--currency',
      'EUR',
      '--capture',
      'manual',
      '--metadata',
      'order=42',
      '--metadata',
      'note=a=b',
    ]);
    expect(created).toMatchObject({
      object: 'payment',
      status: 'pending',
      amount: 1250,
      currency: 'EUR',
      captureMethod: 'manual',
      metadata: { order: '42', note: 'a=b' },
    });
    const { id } = created;
    expect(await json(['payments', 'advance', id, 'authorize'])).toMatchObject({ status: 'authorized' });
    expect(await json(['payments', 'advance', id, 'capture', '--amount', '12.50'])).toMatchObject({
      amountCaptured: 1250,
    });
    expect(await json(['payments', 'refund', id, '--minor', '250', '--reason', 'late'])).toMatchObject({
      object: 'refund',
      amount: 250,
      paymentId: id,
    });
    expect(await json(['payments', 'get', id])).toMatchObject({ id, amountRefunded: 250 });
    const page = await json<{ data: JsonOutput[] }>(['payments', 'list', '--limit', '1']);
    expect(page.data.map((one) => one.id)).toEqual([id]);
  });

  test('prints readable text without --json, on stdout only', async () => {
    const { stdout, stderr, code } = await world.sandbank(
      'payments',
      'create',
      '--amount',
      '1250',
      '--currency',
      'JPY',
      '--scenario',
      'approve',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^payment {2}pay_\w+\nstatus {3}pending\namount {3}1250 JPY\nactions {2}/);
    const id = /pay_\w+/.exec(stdout)?.[0] ?? '';
    const advanced = await world.sandbank('payments', 'advance', id, '--to', 'captured');
    expect(advanced.stdout).toMatch(/status +captured\n.*\ncaptured +1250 JPY/);
    const list = await world.sandbank('payments', 'list', '--limit', '1');
    expect(list.stdout).toMatch(new RegExp(`^PAYMENT +STATUS +AMOUNT +CREATED\n${id} +captured +1250 JPY`));
    expect(list.stderr).toMatch(/^More results: add --cursor \S+\n$/);
    expect(list.stdout + list.stderr + stdout).not.toContain(String.fromCharCode(27));
  });

  test('searches the lists of records', async () => {
    const { json } = world;
    const name = 'Grace Hopper';
    const { id: customer } = await json<{ id: string }>(['customers', 'create', '--name', name]);
    const create = ['payments', 'create', '--minor', '700', '--customer', customer];
    const { id } = await json<{ id: string }>([...create, '--reference', 'Order-777']);
    await json(['payments', 'advance', id, '--to', 'captured']);
    const { id: refund } = await json<{ id: string }>([
      'payments',
      'refund',
      id,
      '--reason',
      'one item broke',
    ]);
    const idsOf = async (list: string, text: string) => {
      const { data } = await json<{ data: { id: string }[] }>([list, 'list', '--search', text]);
      return data.map((one) => one.id);
    };
    expect(await idsOf('payments', 'order-777')).toEqual([id]);
    expect(await idsOf('payments', 'grace hop')).toEqual([id]);
    expect(await idsOf('customers', 'hopper')).toEqual([customer]);
    expect(await idsOf('refunds', 'item broke')).toEqual([refund]);
    expect(await idsOf('transfers', 'order-777')).toEqual([]);
    expect(await idsOf('disputes', 'order-777')).toEqual([]);
  });

  test('quotes, sends, returns and refunds a transfer, and creates a customer', async () => {
    const { json } = world;
    const customer = await json<JsonOutput>([
      'customers',
      'create',
      '--name',
      'Ada',
      '--email',
      'ada@example.test',
    ]);
    expect(await json(['customers', 'get', customer.id])).toMatchObject({ object: 'customer', name: 'Ada' });
    expect((await world.sandbank('customers', 'list')).stdout).toMatch(
      /^CUSTOMER[\s\S]*Ada +ada@example\.test/,
    );
    const quoted = await json<JsonOutput>([
      'transfers',
      'create',
      '--from',
      'EUR',
      '--to',
      'USD',
      '--send',
      '100.00',
      '--beneficiary',
      'Grace',
      '--customer',
      customer.id,
    ]);
    expect(quoted).toMatchObject({
      object: 'transfer',
      status: 'quoted',
      sourceAmount: 10_000,
      customerId: customer.id,
    });
    expect(await json(['transfers', 'advance', quoted.id, '--to', 'sent'])).toMatchObject({ status: 'sent' });
    expect(
      await json(['transfers', 'advance', quoted.id, 'return', '--return-code', 'account_closed']),
    ).toMatchObject({ status: 'returned' });
    expect(await json(['transfers', 'refund', quoted.id])).toMatchObject({ status: 'refunded' });
    expect((await world.sandbank('transfers', 'get', quoted.id)).stdout).toMatch(
      /sends +100\.00 EUR and a fee of .*\narrives +[\d.]+ USD/,
    );
    const arriving = await json<JsonOutput>([
      'transfers',
      'create',
      '--to',
      'JPY',
      '--arrive-minor',
      '15000',
    ]);
    expect(arriving).toMatchObject({ targetAmount: 15_000, targetCurrency: 'JPY' });
  });

  test("status shows the key's organization and scopes, and the record counts", async () => {
    const status = await world.json(['status']);
    expect(status).toMatchObject({
      object: 'api_status',
      url: world.url,
      organization: { id: world.owner.orgId },
      counts: { webhooks: 0 },
    });
    const { stdout } = await world.sandbank('status');
    expect(stdout).toMatch(
      /^server +http[\s\S]+organization +Tenant \w+[\s\S]+scopes +payments:read[\s\S]+clock [\s\S]+payments +\d/,
    );
    const narrow = await world.owner.addKey({ scopes: ['payments:read'] });
    const ran = await run(['status'], { env: { ...world.env, SANDBANK_API_KEY: narrow.key } });
    expect([ran.code, ran.stdout]).toEqual([
      0,
      expect.stringMatching(/transfers +not readable with this key/),
    ]);
  });

  describe('the exit code', () => {
    test('1: the API rejected the request; shows the code, the allowed actions, the request id and the docs link', async () => {
      const { id } = await world.json<JsonOutput>(['payments', 'create', '--minor', '100']);
      const { code, stdout, stderr } = await world.sandbank('payments', 'refund', id);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /^Error: .+ \(invalid_state_transition, 409\)\n {2}allowed {2}.+\n[\s\S]*request {2}req_\w+\n {2}docs {5}http.+#invalid_state_transition\n$/,
      );
      const asJson = await world.json<{ requestId: string }>(['payments', 'refund', id], 1);
      expect(asJson).toMatchObject({
        object: 'error',
        error: { code: 'invalid_state_transition', allowedActions: expect.any(Array) },
      });
      expect(asJson.requestId).toMatch(/^req_/);
    });

    test.each<[string, readonly string[], RegExp]>([
      ['an unknown command', ['fly'], /Unknown command 'fly'/],
      ['an unknown flag', ['payments', 'list', '--colour'], /Unknown option '--colour'/],
      ['a missing argument', ['payments', 'get'], /Missing required argument 'id'/],
      ['a group without a command', ['payments'], /Usage: sandbank payments/],
      [
        'an ambiguous amount',
        ['payments', 'create', '--amount', '12'],
        /--amount 12\.00 for 12\.00 EUR, or --minor 12 for 0\.12 EUR/,
      ],
      ['too many decimals', ['payments', 'create', '--amount', '12.505'], /EUR has at most 2 decimals/],
      [
        'decimals for a currency without decimals',
        ['payments', 'create', '--amount', '1.5', '--currency', 'jpy'],
        /JPY has no decimals/,
      ],
      ['no amount', ['payments', 'create'], /--amount or --minor is missing/],
      ['two amounts', ['payments', 'create', '--amount', '1.00', '--minor', '1'], /not both/],
      ['an action and a state', ['payments', 'advance', 'pay_1', 'capture', '--to', 'captured'], /not both/],
      ['a malformed number', ['payments', 'list', '--limit', 'many'], /whole number from 1 to 100/],
      [
        'an ambiguous transfer amount, named by its flag',
        ['transfers', 'create', '--send', '5'],
        /--send 5\.00 .* or --send-minor 5/,
      ],
      ['a malformed server URL', ['status', '--url', 'nowhere'], /nowhere is not a server address/],
      ['a customer update without a field', ['customers', 'update', 'cus_1'], /at least one field/],
      [
        'a field that cannot be cleared',
        ['customers', 'update', 'cus_1', '--clear', 'metadata'],
        /"metadata" is not a valid value for --clear. Allowed values: name, email, phone, reference./,
      ],
      ['an endpoint update without a setting', ['webhooks', 'update', 'whk_1'], /at least one setting/],
      [
        'evidence for another action',
        ['disputes', 'advance', 'dsp_1', 'win', '--evidence', 'a=b'],
        /--evidence goes with the action submit_evidence/,
      ],
      ['a replay without a time range', ['replays', 'create'], /--from is missing/],
      [
        'an unknown lifecycle',
        ['state-machines', 'payments'],
        /"payments" is not a valid resource. Did you mean payment\?/,
      ],
      ['a reset without confirmation', ['reset'], /Add --yes/],
    ])('2: %s', async (_name, args, message) => {
      const { code, stdout, stderr } = await world.sandbank(...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n\s+at /);
    });

    test('3: the connection is refused', async () => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const { code, stderr } = await run(['status'], { env: { ...world.env, SANDBANK_URL: url } });
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(
          /^Error: The connection to http:\/\/127\.0\.0\.1:\d+ failed: ECONNREFUSED.*start the server/,
        ),
      ]);
    });

    test('4: the key is missing or invalid; a key is never printed', async () => {
      const withoutKey = await run(['payments', 'list'], { env: { SANDBANK_URL: world.url } });
      expect([withoutKey.code, withoutKey.stderr]).toEqual([
        4,
        expect.stringMatching(/There is no API key .*SANDBANK_API_KEY/),
      ]);
      const key = newKey();
      const old = await run(['payments', 'list'], { env: { SANDBANK_URL: world.url, SANDBANK_KEY: key } });
      expect([old.code, old.stderr]).toEqual([4, expect.stringContaining('Set SANDBANK_API_KEY instead.')]);
      const wrong = await world.sandbank('payments', 'list', '--api-key', key);
      expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringMatching(/api_key_invalid, 401/)]);
      expect(wrong.stderr + wrong.stdout).not.toContain(key);
      const operator = await run(['organizations', 'list'], { env: { SANDBANK_URL: world.url } });
      expect([operator.code, operator.stderr]).toEqual([4, expect.stringMatching(/SANDBANK_OPERATOR_TOKEN/)]);
    });
  });

  test("finds a server's connection file in this folder and in parent folders, without any setting", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbank-note-'));
    const inner = join(folder, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    mkdirSync(join(folder, '.sandbank'));
    writeFileSync(
      join(folder, '.sandbank', 'cli.json'),
      JSON.stringify({ url: world.url, apiKey: world.owner.key, operatorToken: world.server.operatorToken }),
    );
    const ran = await run(['status', '--json'], { directory: inner });
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      { organization: { id: world.owner.orgId } },
    ]);
    const named = await run(['status'], { env: { SANDBANK_DATA_DIR: join(folder, '.sandbank') } });
    expect(named.code).toBe(0);
    rmSync(folder, { recursive: true });
  });
});
