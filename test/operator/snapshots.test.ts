import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Database } from '../../src/db/database.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { tablesOf } from '../../src/engine/organization-tables.ts';
import { formatId } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { Forks } from '../../src/snapshots/fork.ts';
import { readHeader } from '../../src/snapshots/format.ts';
import { ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { countRows, populate, settle } from './populate.ts';

const token = 'x'.repeat(40);
const jsonl = { 'content-type': 'application/jsonl' };
const otherKind = { pglite: 'postgres', postgres: 'pglite' } as const;

interface ImportBody extends Body {
  readonly organization: { readonly id: string; readonly name: string };
  readonly applications: readonly { readonly id: string; readonly name: string }[];
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly key?: string }[];
  readonly webhooks: readonly { readonly id: string; readonly url: string; readonly secret?: string }[];
  readonly counts: Readonly<Record<string, number>>;
}

async function exported(server: Server, orgId: string, query = 'secrets=true'): Promise<string> {
  const response = await server.app.inject({
    url: `/_operator/organizations/${orgId}/snapshot?${query}`,
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.statusCode, response.body).toBe(200);
  expect(response.headers['content-type']).toBe('application/jsonl');
  return response.body;
}

function operatorOf(server: Server) {
  const client = new ApiClient(server.app, token);
  return {
    post: (path: string, body?: unknown) => client.post(`/_operator/${path}`, body),
    import: (snapshot: string | Buffer, query = '') =>
      client.send('/_operator/snapshots', { method: 'POST', query, raw: snapshot, headers: jsonl }),
  };
}

/** Without the export time and the hash that covers it. */
const undated = (snapshot: string) =>
  snapshot.replace(/"exportedAt":"[^"]*"/, '').replace(/"(sha256|signature)":"[^"]*"/g, '');

/** The lines of a snapshot, without the last one. */
const bodyOf = (snapshot: string) => snapshot.split('\n').slice(0, -2);

/** Appends a valid last line with counts and hash, as a forger of a snapshot could. */
function withEnd(lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  const counts: Record<string, number> = {};
  for (const [, table = ''] of text.matchAll(/^\{"table":"(\w+)"/gm))
    counts[table] = (counts[table] ?? 0) + 1;
  return `${text}${JSON.stringify({ counts, sha256: createHash('sha256').update(text).digest('hex') })}\n`;
}

async function expectConsistent({ database }: Server): Promise<void> {
  const { checks } = await verify(database);
  expect(checks.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })))).toEqual([]);
}

describe.each(databaseKinds)('snapshots on %s', (kind) => {
  let server: Server;
  let other: Server;
  let receiver: Receiver;
  let acme: Tenant;
  let records: Awaited<ReturnType<typeof populate>>;
  let snapshot: string;

  beforeAll(async () => {
    [server, other] = [
      await openServer(kind, { operatorToken: token }),
      await openServer(otherKind[kind], {
        operatorToken: token,
        secret: 'another secret of another server!',
      }),
    ];
    receiver = await openReceiver();
    acme = await tenant(server);
    records = await populate(acme.client, receiver.url);
    const second = await acme.addKey({ application: 'mobile', scopes: ['payments:read', 'payments:write'] });
    await second.client.post('developer_api_payments', { amount: 5, currency: 'JPY' });
    await acme.client.post('developer_api_clock/advance', { seconds: 3_600 });
    await acme.client.post('developer_api_clock/freeze');
    await settle(server, acme.orgId);
    snapshot = await exported(server, acme.orgId);
  });
  afterAll(async () => {
    await server?.close();
    await other?.close();
    await receiver?.close();
  });

  test('contains every kind of record and describes itself in its header', async () => {
    const [first = '', ...lines] = bodyOf(snapshot);
    expect(withEnd([first, ...lines])).toBe(snapshot.replace(/,"signature":"[0-9a-f]{64}"\}\n$/, '}\n'));
    expect(snapshot).toMatch(/"signature":"[0-9a-f]{64}"\}\n$/);
    expect(readHeader(first, 1, 1_000)).toMatchObject({
      organization: { id: acme.orgId, name: acme.orgName },
      hasSecrets: true,
    });
    const tables = lines.map((line) => (JSON.parse(line) as { table: string }).table);
    expect([...new Set(tables)]).toEqual(
      tablesOf('configuration', 'record').filter((table) => tables.includes(table)),
    );
    const counts = await countRows(server, acme.orgId, tablesOf('configuration', 'record'));
    for (const [table, count] of Object.entries(counts)) {
      expect(tables.filter((one) => one === table).length, table).toBe(count);
      expect(count, `create a record of ${table} in test/operator/populate.ts`).toBeGreaterThan(0);
    }
  });

  test('contains no API key, sealed text or person, and webhook secrets only on request', async () => {
    const bare = await exported(server, acme.orgId, 'secrets=false');
    expect(await exported(server, acme.orgId, '')).toHaveLength(bare.length);
    for (const text of [snapshot, bare]) {
      expect(text).not.toContain(acme.key);
      expect(text).not.toContain('sealed.v1.');
      expect(text).not.toMatch(/"table":"(members|invitations|audit|audit_seals|requests|idempotency)"/);
    }
    expect(snapshot).toContain('whsec_');
    expect(bare).not.toContain('whsec_');
  });

  test('the same data exports to the same bytes, also after a round trip through the other database', async () => {
    expect(undated(await exported(server, acme.orgId))).toBe(undated(snapshot));
    const there = await operatorOf(other).import(snapshot);
    expect(there.status, there.text).toBe(201);
    const again = await exported(other, acme.orgId);
    expect(undated(again)).toBe(undated(snapshot));
    const third = await openServer(kind, { operatorToken: token });
    expect((await operatorOf(third).import(again)).status).toBe(201);
    expect(undated(await exported(third, acme.orgId))).toBe(undated(snapshot));
    await expectConsistent(third);
    await third.close();
    await expectConsistent(other);
  });

  test('on the other server its keys work, its records exist and its clock is frozen at the same time', async () => {
    const client = acme.clientOn(other.app);
    const payment = await client.get(`developer_api_payments/${records.payment.id}`);
    expect({ ...payment.body, requestId: '' }).toEqual({
      ...(await acme.client.get(`developer_api_payments/${records.payment.id}`)).body,
      requestId: '',
    });
    expect((await client.get('developer_api_clock')).body).toMatchObject({
      status: 'frozen',
      now: (await acme.client.get('developer_api_clock')).body.now,
    });
    const refunded = await client.post(`developer_api_payments/${records.payment.id}/refund`, { amount: 1 });
    expect(refunded.status, refunded.text).toBe(201);
    await expectConsistent(other);
  });

  test('409: an organization that already exists', async () => {
    const { code, body } = await operatorOf(server).import(snapshot);
    expect(code).toBe('organization_exists');
    expect(body.error.details).toEqual({ organization: { id: acme.orgId, name: acme.orgName } });
    expect(undated(await exported(server, acme.orgId))).toBe(undated(snapshot));
  });

  test('an import without secrets creates new ones and shows them once; with secrets it shows none', async () => {
    const fresh = await openServer(kind, { operatorToken: token });
    const body = (await operatorOf(fresh).import(await exported(server, acme.orgId, '')))
      .body as unknown as ImportBody;
    expect(body.webhooks).toHaveLength(2);
    for (const { secret } of body.webhooks) expect(secret).toMatch(/^whsec_/);
    expect(body.apiKeys.every(({ key }) => key === undefined)).toBe(true);
    const before = receiver.received.length;
    const client = acme.clientOn(fresh.app);
    const test = await client.post(`developer_api_webhooks/${records.webhook.id}/test`);
    expect(test.status, test.text).toBe(200);
    expect(receiver.received.length).toBe(before + 1);
    await fresh.close();
  });

  describe('a fork', () => {
    let fork: ImportBody;
    let client: ApiClient;

    beforeAll(async () => {
      const answer = await operatorOf(server).post(`organizations/${acme.orgId}/fork`, { name: 'Copy' });
      expect(answer.status, answer.text).toBe(201);
      fork = answer.body as unknown as ImportBody;
      const first = fork.apiKeys.find(({ name }) => name === acme.keyName);
      client = new ApiClient(server.app, first?.key ?? '');
    });

    test('is another organization with its own applications, keys and webhooks and the same records', async () => {
      expect(fork).toMatchObject({ object: 'import', status: 'ok', organization: { name: 'Copy' } });
      expect(fork.organization.id).not.toBe(acme.orgId);
      expect(fork.applications.map(({ name }) => name).sort()).toEqual(['mobile', 'web']);
      expect(fork.applications.map(({ id }) => id)).not.toContain(acme.appId);
      expect(fork.counts).toMatchObject({ applications: 2, payments: 7 });
      const status = (await client.get('developer_api_status')).body;
      expect(status).toMatchObject({ organization: fork.organization });
      const own = await client.get(`developer_api_payments/${records.payment.id}`);
      expect(own.body).toMatchObject({ id: records.payment.id, status: 'settled' });
      await expectConsistent(server);
    });

    test('sends nothing until its webhooks are enabled', async () => {
      const { data } = (await client.get('developer_api_webhooks')).body;
      expect(data.map(({ status }) => status)).toEqual(['disabled', 'disabled']);
      expect(data.map(({ id }) => id)).not.toContain(records.webhook.id);
      expect(fork.webhooks.every(({ secret }) => secret?.startsWith('whsec_'))).toBe(true);
      const hook = data.find(({ retryProfile }) => retryProfile === 'none');
      const typesFrom = (count: number) =>
        receiver.received.slice(count).map(({ body }) => (JSON.parse(body) as Body).type);
      const before = receiver.received.length;
      await client.post('developer_api_customers', { name: 'Bob' });
      // Deliveries of the other organization arrive; those of the fork stay pending.
      await acme.client.post('developer_api_webhook_events', { type: 'transfer.quoted' });
      await receiver.waitFor(before + 1);
      expect(typesFrom(before)).toEqual(['transfer.quoted']);
      const enabled = await client.post(`developer_api_webhooks/${hook?.id}/enable`);
      expect(enabled.status, enabled.text).toBe(200);
      await settle(server, fork.organization.id);
      expect(typesFrom(before)).toContain('customer.created');
    });

    test('is isolated from the original', async () => {
      const before = undated(await exported(server, acme.orgId));
      await client.post(`developer_api_payments/${records.payment.id}/refund`, { amount: 10 });
      await client.post('developer_api_clock/reset');
      await client.post('developer_api_customers', { name: 'Eve' });
      expect((await operatorOf(server).post(`organizations/${fork.organization.id}/reset`)).status).toBe(200);
      expect(undated(await exported(server, acme.orgId))).toBe(before);
      expect((await client.get('developer_api_payments')).body.data).toEqual([]);
      await expectConsistent(server);
    });

    test('of a file may have any name, on its original server and on another', async () => {
      for (const place of [server, other]) {
        const answer = await operatorOf(place).import(snapshot, 'fork=true&name=From%20a%20file');
        expect(answer.status, answer.text).toBe(201);
        expect(answer.body).toMatchObject({ organization: { name: 'From a file' } });
        const unnamed = await operatorOf(place).import(snapshot, 'fork=true');
        expect(unnamed.body).toMatchObject({ organization: { name: acme.orgName } });
        await expectConsistent(place);
      }
    });

    test('404: of an unknown organization; 400: without a name', async () => {
      const unknown = 'org_01m7epxwjmf7za77rhky2f93cc';
      expect((await operatorOf(server).post(`organizations/${unknown}/fork`, { name: 'x' })).code).toBe(
        'resource_not_found',
      );
      expect((await operatorOf(server).post(`organizations/${acme.orgId}/fork`, {})).code).toBe(
        'invalid_request',
      );
    });
  });

  describe('an import rejects', () => {
    const lineOf = (table: string) =>
      snapshot.split('\n').findIndex((line) => line.startsWith(`{"table":"${table}"`)) + 1;
    const edited = (number: number, edit: (line: string) => string) =>
      snapshot
        .split('\n')
        .map((line, i) => (i + 1 === number ? edit(line) : line))
        .join('\n');
    const inRow = (table: string, from: string | RegExp, to: string) => () =>
      [edited(lineOf(table), (line) => line.replace(from, to)), lineOf(table)] as const;
    const unknownOrg = 'org_01m7epxwjmf7za77rhky2f93cc';

    const cases: readonly (readonly [string, () => readonly [string, number], RegExp])[] = [
      ['an empty file', () => ['', 1], /is empty/],
      ['a file that is not a snapshot', () => ['{"name":"x"}\n', 1], /begins with/],
      ['a file that is not JSON', () => ['nonsense\n', 1], /not valid JSON/],
      ['a header without an organization', () => [edited(1, (l) => l.replace('org_', 'xyz_')), 1], /an id/],
      ['a truncated line', () => [edited(4, (line) => line.slice(0, -10)), 4], /written as/],
      ['an empty line', () => [edited(5, (line) => `\n${line}`), 5], /written as/],
      ['spaces', () => [edited(3, (line) => line.replace('"row":', '"row": ')), 3], /without spaces/],
      ['an unknown table', inRow('payments', '"payments"', '"persons"'), /not a snapshot table/],
      [
        'a table that snapshots do not contain',
        inRow('payments', '"payments"', '"audit"'),
        /not a snapshot table/,
      ],
      ['an unknown column', inRow('payments', '"row":{', '"row":{"hacked":1,'), /no column "hacked"/],
      ['a missing column', inRow('payments', /"currency":"[A-Z]+",/, ''), /lacks the column "currency"/],
      ['another organization', inRow('payments', /org_\w+/, unknownOrg), /another organization/],
      [
        'an id of another kind',
        inRow('payments', /"id":"pay_\w+"/, '"id":"cus_1"'),
        /not a valid id in payments/,
      ],
      [
        'an id in a list',
        inRow('payments', /"id":("pay_\w+")/, '"id":[$1]'),
        /\["pay_\w+"\] is not a valid id in payments/,
      ],
      [
        'an application in a list',
        inRow('payments', /"app_id":("app_\w+")/, '"app_id":[$1]'),
        /"app_id" of payments must be of the type string/,
      ],
      [
        'a number as a text',
        inRow('customers', '"Ada"', '5'),
        /"name" of customers must be of the type string/,
      ],
      ['a text as a number', inRow('payments', /"amount":\d+/, '"amount":"5"'), /must be of the type number/],
      [
        'a wrong time',
        inRow('payments', /"created_at":"[^"]*"/, '"created_at":"x"'),
        /does not fit into payments/,
      ],
      ['a value out of bounds', inRow('payments', /"amount":\d+/, '"amount":0'), /payments_amount/],
      ['an unknown state', inRow('payments', /"status":"\w+"/, '"status":"lost"'), /payments_status/],
      ['U+0000', inRow('customers', '"Ada"', '"A\\u0000"'), /does not fit into customers/],
      [
        'an unknown application',
        inRow('payments', /app_0\w+|app_[1-7]\w+/, 'app_01m7epxwjmf7za77rhky2f93cc'),
        /not in the/,
      ],
      [
        'a duplicate row',
        () => [edited(lineOf('customers'), (l) => `${l}\n${l}`), lineOf('customers') + 1],
        /customers_pkey/,
      ],
      ['no secrets', inRow('webhooks', /"secrets":\[.*?\]/, '"secrets":[]'), /secrets/],
      [
        'tables in another order',
        () => [withEnd([...bodyOf(snapshot), bodyOf(snapshot)[2] ?? '']), snapshot.split('\n').length - 1],
        /fixed order/,
      ],
      [
        'a line after the last one',
        () => [`${snapshot}${snapshot.split('\n')[2]}\n`, snapshot.split('\n').length],
        /after the end line/,
      ],
      ['two snapshots', () => [snapshot + snapshot, snapshot.split('\n').length], /second snapshot/],
      ['a long line', () => [edited(4, (line) => line + 'x'.repeat(1_100_000)), 4], /1 MiB/],
      [
        'a snapshot without its organization',
        () => [withEnd(bodyOf(snapshot).slice(0, 1)), 2],
        /itself is missing/,
      ],
      [
        'a changed value',
        () => [
          edited(lineOf('customers'), (line) => line.replace('Ada', 'Eve')),
          snapshot.split('\n').length - 1,
        ],
        /SHA-256 does not match/,
      ],
      [
        'a row that was not exported',
        () => {
          const [lines, at] = [bodyOf(snapshot), lineOf('customers') - 1];
          const id = 'cus_01m7epxwjmf7za77rhky2f93cc';
          const added = (lines[at] ?? '').replace(/"id":"cus_\w+"/, `"id":"${id}"`);
          const end = snapshot.split('\n').at(-2) ?? '';
          return [
            `${[...lines.slice(0, at), added, ...lines.slice(at), end].join('\n')}\n`,
            snapshot.split('\n').length,
          ];
        },
        /rows of customers/,
      ],
    ];

    test.each(cases)('422: %s, with the line number', async (_what, make, message) => {
      const [text, line] = make();
      const before = await countRows(server, acme.orgId, tablesOf('configuration', 'record'));
      const { code, body } = await operatorOf(server).import(text, 'fork=true');
      expect(code, JSON.stringify(body)).toBe('snapshot_invalid');
      expect(body.error.details).toEqual({ line });
      expect(body.error.message).toMatch(message);
      expect(body.error.message).toContain(`Line ${line}: `);
      expect(await countRows(server, acme.orgId, tablesOf('configuration', 'record'))).toEqual(before);
    });

    test('422: bytes that are not UTF-8', async () => {
      const bytes = Buffer.from(snapshot.replace('Ada', 'A\u00e9a'), 'latin1');
      expect((await operatorOf(server).import(bytes, 'fork=true')).body.error.message).toMatch(/UTF-8/);
    });

    const endNumber = () => snapshot.split('\n').length - 1;
    const incomplete: readonly (readonly [string, () => readonly [string, number]])[] = [
      ['without its last line', () => [`${bodyOf(snapshot).join('\n')}\n`, endNumber() - 1]],
      ['truncated within its last line', () => [snapshot.slice(0, -10), endNumber()]],
      ['with its first half only', () => [`${bodyOf(snapshot).slice(0, 40).join('\n')}\n`, 40]],
      ['truncated within a line', () => [bodyOf(snapshot).slice(0, 40).join('\n').slice(0, -5), 40]],
      ['without one of its lines', () => [snapshot.replace(/\{"table":"payments".*\n/, ''), endNumber() - 1]],
    ];
    test.each(incomplete)('422: a snapshot %s', async (_what, make) => {
      const [text, line] = make();
      const before = await countOrganizations();
      const { code, body } = await operatorOf(server).import(text, 'fork=true');
      expect(code, JSON.stringify(body)).toBe('snapshot_incomplete');
      expect(body.error.details).toEqual({ line });
      expect(await countOrganizations()).toBe(before);
    });

    const inconsistent: readonly (readonly [
      string,
      string,
      (lines: readonly string[]) => readonly string[],
    ])[] = [
      [
        'a posting that is off by seven',
        'entries_sum_to_zero',
        (lines) =>
          changed(
            lines,
            'ledger_entries',
            /"amount": ?(\d+)/,
            (_, amount) => `"amount": ${Number(amount) + 7}`,
          ),
      ],
      [
        'a balance that is off by seven',
        'balances_equal_postings',
        (lines) =>
          changed(
            lines,
            'ledger_balances',
            /"balance":(-?\d+)/,
            (_, amount) => `"balance":${Number(amount) + 7}`,
          ),
      ],
      [
        'no ledger',
        'payments_equal_postings',
        (lines) => lines.filter((line) => !/^\{"table":"ledger_/.test(line)),
      ],
      [
        'no history',
        'records_equal_history',
        (lines) => lines.filter((line) => !/"state_history"/.test(line)),
      ],
      [
        'no timers',
        'timers_equal_records',
        (lines) => lines.filter((line) => !/^\{"table":"timers"/.test(line)),
      ],
    ];
    const changed = (
      lines: readonly string[],
      table: string,
      from: RegExp,
      to: (...found: string[]) => string,
    ): readonly string[] => {
      const at = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`) && from.test(line));
      return lines.map((line, i) => (i === at ? line.replace(from, to) : line));
    };
    test.each(inconsistent)('422: an inconsistent ledger: %s', async (_what, check, change) => {
      const before = await countOrganizations();
      const text = withEnd(change(bodyOf(snapshot)));
      const { code, body } = await operatorOf(server).import(text, 'fork=true');
      expect(code, JSON.stringify(body)).toBe('snapshot_invalid');
      expect(body.error.details).toMatchObject({ check });
      expect(body.error.message).toMatch(/books .* not sound/);
      expect(await countOrganizations()).toBe(before);
    });

    test('accepts a snapshot of the previous format, which has no last line, and checks its ledger', async () => {
      const lines = bodyOf(snapshot).map((line, i) =>
        i === 0 ? line.replace(/"version":\d+/, '"version":1') : line,
      );
      const complete = await operatorOf(server).import(`${lines.join('\n')}\n`, 'fork=true');
      expect(complete.status, complete.text).toBe(201);
      const cut = lines.filter((line) => !/^\{"table":"ledger_/.test(line));
      expect((await operatorOf(server).import(`${cut.join('\n')}\n`, 'fork=true')).code).toBe(
        'snapshot_invalid',
      );
    });

    const countOrganizations = async () =>
      (await server.database.query({ name: '', text: 'select 1 as one from organizations' }, [])).length;

    test('leaves nothing of a rejected snapshot', async () => {
      const before = await countOrganizations();
      const last = bodyOf(snapshot).length;
      const broken = edited(last, (line) => line.replace('"row":{', '"row":{"x":1,'));
      expect((await operatorOf(server).import(broken, 'fork=true')).code).toBe('snapshot_invalid');
      expect(await countOrganizations()).toBe(before);
    });

    test('422: a newer schema and a newer format', async () => {
      for (const [from, to] of [
        [/"schema":\d+/, '"schema":999'],
        [/"version":\d+/, '"version":3'],
      ] as const) {
        const newer = snapshot.replace(from, to);
        expect((await operatorOf(server).import(newer, 'fork=true')).code).toBe('snapshot_too_new');
      }
    });

    test('accepts an older schema: missing columns get their default', async () => {
      const older = snapshot
        .replace(/"schema":\d+/, '"schema":6')
        .replaceAll(/,"webhook_defaults":\{.*?\}/g, '')
        .replaceAll(/,"fx_margin_basis_points":\d+/g, '');
      const answer = await operatorOf(server).import(withEnd(bodyOf(older)), 'fork=true');
      expect(answer.status, answer.text).toBe(201);
      const { organization } = answer.body as unknown as ImportBody;
      const rows = await server.database.query<{ margin: number; defaults: unknown }>(
        {
          name: '',
          text: `select fx_margin_basis_points as margin, webhook_defaults as defaults from applications where org_id = $1`,
        },
        [organization.id],
      );
      expect(rows).toHaveLength(2);
      for (const { margin, defaults } of rows) {
        expect(margin).toBe(50);
        expect(defaults).toMatchObject({ retryProfile: 'standard' });
      }
      await expectConsistent(server);
    });

    test('400, 401, 404, 415: invalid parameters, tokens, ids and content types', async () => {
      const operator = operatorOf(server);
      expect((await operator.import(snapshot, 'name=x')).code).toBe('invalid_request');
      expect((await operator.import(snapshot, 'fork=yes')).code).toBe('invalid_request');
      expect((await operator.post('snapshots', {})).code).toBe('unsupported_media_type');
      const client = new ApiClient(server.app, token);
      for (const orgId of [unknownOrg, 'nonsense'])
        expect((await client.get(`/_operator/organizations/${orgId}/snapshot`)).code).toBe(
          'resource_not_found',
        );
      const path = `/_operator/organizations/${acme.orgId}/snapshot`;
      expect((await client.get(path, 'secrets=maybe')).code).toBe('invalid_request');
      expect((await new ApiClient(server.app, acme.key).get(path)).code).toBe('operator_token_invalid');
      const keyed = { method: 'POST', raw: snapshot, headers: jsonl };
      expect((await acme.client.send('/_operator/snapshots', keyed)).code).toBe('operator_token_invalid');
      expect((await acme.client.send('developer_api_payments', keyed)).code).toBe('unsupported_media_type');
    });
  });

  test('an export during concurrent writes is a consistent snapshot', async () => {
    const busy = await tenant(server);
    await busy.client.post('developer_api_webhooks', { url: receiver.url });
    const fresh = await openServer(kind, { operatorToken: token });
    let isDone = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!isDone) {
        const { body } = await busy.client.post('developer_api_payments', { amount: 10, currency: 'EUR' });
        await busy.client.post(`developer_api_payments/${body.id}/advance`, { to: 'settled' });
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const text = await exported(server, busy.orgId);
      const query = round === 0 ? '' : 'fork=true';
      const answer = await operatorOf(fresh).import(text, query);
      expect(answer.status, answer.text).toBe(201);
    }
    isDone = true;
    await Promise.all(writers);
    await expectConsistent(fresh);
    await fresh.close();
  });

  test('an export and an import write an audit row', async () => {
    const actionsOf = async (place: Server, orgId: string) =>
      (
        await place.database.query<{ action: string }>(
          {
            name: '',
            text: `select distinct action from audit where org_id = $1 and actor_id = 'operator'
              and actor_kind = 'system' and outcome = 'accepted'`,
          },
          [orgId],
        )
      ).map(({ action }) => action);
    expect(await actionsOf(server, acme.orgId)).toContain('organizations.export');
    expect(await actionsOf(other, acme.orgId)).toContain('organizations.import');
  });

  test('concurrent exports and forks wait for each other and all succeed', async () => {
    const inject = () =>
      server.app.inject({
        url: `/_operator/organizations/${acme.orgId}/snapshot`,
        headers: { authorization: `Bearer ${token}` },
      });
    const fork = () => operatorOf(server).post(`organizations/${acme.orgId}/fork`, { name: 'Concurrent' });
    const [exports, forks] = await Promise.all([
      Promise.all(Array.from({ length: 12 }, inject)),
      Promise.all(Array.from({ length: 16 }, fork)),
    ]);
    expect(exports.map(({ statusCode }) => statusCode)).toEqual(exports.map(() => 200));
    expect(forks.map(({ status }) => status)).toEqual(forks.map(() => 201));
    const ids = forks.map(({ body }) => (body as ImportBody).organization.id);
    expect(new Set(ids).size).toBe(16);
    await expectConsistent(server);
  });

  test('a fork needs the same number of statements for any number of records', async () => {
    const small = await tenant(server);
    await small.client.post('developer_api_payments', { amount: 5, currency: 'EUR' });
    const statementsOf = async (orgId: string) => {
      let statements = 0;
      const counted: Pick<Database, 'transaction'> = {
        transaction: (work) =>
          server.database.transaction((connection) =>
            work({
              query: (statement, values) => {
                statements += 1;
                return connection.query(statement, values);
              },
              finish: connection.finish.bind(connection),
              script: connection.script.bind(connection),
            }),
          ),
      };
      const copy = await new Forks(counted).fork(orgId, (header, setUp) => ({
        ids: new Map([[header.organization.id, formatId('organization', newSuffix())]]),
        rewritten: new Map(
          (setUp.get('api_keys') ?? []).map((row) => [
            row,
            JSON.stringify({ ...row.fields, hash: `\\x${randomBytes(32).toString('hex')}` }),
          ]),
        ),
        disabledBy: null,
      }));
      return { statements, payments: copy?.counts.payments ?? 0 };
    };
    const before = await statementsOf(small.orgId);
    for (let count = 0; count < 20; count += 1)
      await small.client.post('developer_api_payments', { amount: 5, currency: 'EUR' });
    const after = await statementsOf(small.orgId);
    expect([before.payments, after.payments]).toEqual([1, 21]);
    expect(after.statements).toBe(before.statements);
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.snapshots);
});
