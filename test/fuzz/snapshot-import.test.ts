import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { takeOrganization } from '../../src/engine/clearing.ts';
import { removeOrganization } from '../../src/engine/deletion.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { endLine, snapshotTables } from '../../src/snapshots/format.ts';
import { linesOf } from '../../src/snapshots/lines.ts';
import { expectOk } from '../support/api-client.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { pick } from './engine/random.ts';

interface Row {
  readonly table: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

let server: Server;
let acme: Tenant;
let other: Tenant;
let headerText: string;
let rows: readonly Row[];
let otherBefore: string;

async function exported({ orgId }: Tenant): Promise<string> {
  const stream = await server.snapshots.export(orgId, true);
  assert(!('ok' in stream), 'the export was refused');
  const snapshot = await text(stream);
  return snapshot
    .replace(/"exportedAt":"[^"]*"/, '"exportedAt":"2026-11-15T09:30:00.000Z"')
    .replace(/.*\n$/, '');
}

async function remove({ orgId }: Tenant): Promise<void> {
  await server.database.transaction(async (connection) => {
    await takeOrganization(connection, orgId as Id<'organization'>);
    await removeOrganization(connection, orgId as Id<'organization'>);
  });
}

/** Few rows: an import of an input takes some ten milliseconds. */
async function create({ client }: Tenant): Promise<void> {
  const post = async (path: string, body: object) => expectOk(await client.post(path, body));
  await post('developer_api_webhooks', { url: 'https://example.com/hook', eventTypes: ['refund.*'] });
  const { id: customerId } = await post('developer_api_customers', {
    name: 'Ada',
    metadata: { 'ünïcode "': '1\n2' },
  });
  const { id } = await post('developer_api_payments', { amount: 1_250, currency: 'EUR', customerId });
  await post(`developer_api_payments/${id}/advance`, { to: 'captured' });
}

const readRow = (line: string): Row => {
  const { table, row } = JSON.parse(line) as { table: string; row: Row['fields'] };
  return { table, fields: row };
};

/** With a valid last line, as the operator who changes a file could write it. */
function complete(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join('');
  const counts: Record<string, number> = {};
  for (const [, table = ''] of body.matchAll(/^\{"table":"(\w+)"/gm))
    counts[table] = (counts[table] ?? 0) + 1;
  return `${body}${endLine({ counts, sha256: createHash('sha256').update(body).digest('hex') })}`;
}

/**
 * The input is a list of changes to a snapshot, one in a line: the table, the number of the row, the column, and the new value as JSON.
 * The column `-` removes the row, `+` repeats it.
 */
function edited(input: string): string {
  let header = JSON.parse(headerText) as Record<string, unknown>;
  let all = rows;
  const places: Readonly<Record<string, string>> = {
    $other: other.orgId,
    $application: other.appId,
    $org: acme.orgId,
  };
  for (const line of input.split('\n').slice(0, 6)) {
    const [, table, number = '0', column = '', json = ''] = /^(\w+) (\d{1,9}) (\S+) ?(.*)$/.exec(line) ?? [];
    let value: unknown = json;
    try {
      value = JSON.parse(json.replace(/\$\w+/g, (name) => places[name] ?? name));
    } catch {}
    if (table === 'header') header = { ...header, [column]: value };
    const ofTable = all.filter((row) => row.table === table);
    const chosen = ofTable[Number(number) % ofTable.length];
    all = all.flatMap((row) => {
      if (row !== chosen) return [row];
      if (column === '-') return [];
      return column === '+' ? [row, row] : [{ table: row.table, fields: { ...row.fields, [column]: value } }];
    });
  }
  const lines = all.map((row) => `{"table":"${row.table}","row":${JSON.stringify(row.fields)}}`);
  return complete([JSON.stringify(header), ...lines]);
}

async function importText(snapshot: string) {
  async function* bytes() {
    yield Buffer.from(snapshot);
  }
  return server.snapshots.importLines(linesOf(bytes()), undefined);
}

/** Rows refer only to their own organization, and to applications and webhooks in the snapshot. */
function checkOwners(snapshot: string): void {
  const all = snapshot.trim().split('\n').slice(1).map(readRow);
  const idsOf = (table: string) => all.filter((row) => row.table === table).map(({ fields }) => fields.id);
  const known: Readonly<Record<string, readonly unknown[]>> = {
    org_id: [acme.orgId],
    app_id: [...idsOf('applications'), '', null],
    webhook_id: [...idsOf('webhooks'), '', null],
  };
  for (const { table, fields } of all)
    for (const [column, ids] of Object.entries(known))
      if (column in fields) assert(ids.includes(fields[column]), `${table}.${column} is ${fields[column]}`);
}

/** The types of the values in each column. A value of another type would be stored as its text. */
function typesOf(snapshot: string): ReadonlyMap<string, ReadonlySet<string>> {
  const types = new Map<string, Set<string>>();
  for (const { table, fields } of snapshot
    .trim()
    .split('\n')
    .slice(1)
    .filter((line) => line.startsWith('{"table"'))
    .map(readRow))
    for (const [column, value] of Object.entries(fields))
      if (value !== null)
        types.set(`${table}.${column}`, (types.get(`${table}.${column}`) ?? new Set()).add(typeof value));
  return types;
}

function checkTypes(imported: string, snapshot: string): void {
  const before = typesOf(imported);
  for (const [column, types] of typesOf(snapshot))
    for (const type of types) assert(before.get(column)?.has(type) ?? true, `${column} became a ${type}`);
}

const expected = ['snapshot_invalid', 'snapshot_too_new'];
const values = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '9007199254740993',
  '""',
  '"x"',
  '[]',
  '{}',
  '["$org"]',
  '"$other"',
  '"$application"',
  '["$application"]',
  '"2026-01-01T00:00:00Z"',
  '"infinity"',
  '"\\u0000"',
  '"\\ud800"',
];

fuzz({
  name: 'snapshot-import',
  seeds: [
    ...[
      '',
      'payments 0 id ["pay_01m7epxwjmf7za77rhky2f93cc"]',
      'payments 1 app_id "$application"',
      'deliveries 0 webhook_id "whk_01m7epxwjmf7za77rhky2f93cc"',
    ],
    ...[
      'header schema 1',
      'customers 0 name "Grace"',
      'customers 0 metadata {"a":"b"}',
      'webhooks 0 secrets []',
      'timers 0 -',
      'organizations 0 name "Other"',
    ],
  ],
  dictionary: [
    ...snapshotTables.map(({ name }) => `\n${name} 0 `),
    ...values,
    'id ',
    'org_id ',
    'app_id ',
    'webhook_id ',
    'metadata ',
    ' - ',
    ' + ',
    '\n',
  ],
  lengthMax: 400,
  msMax: 20_000,
  generate(random, input) {
    const { table, fields } = pick(random, rows);
    const line = `${table} ${Math.floor(random() * 50)} ${pick(random, [...Object.keys(fields), '-', '+'])} ${pick(random, values)}`;
    return random() < 0.5 ? line : `${line}\n${input}`;
  },
  async prepare() {
    server = await openServer('pglite', { role: 'api' });
    [acme, other] = [await tenant(server), await tenant(server)];
    await create(acme);
    await create(other);
    otherBefore = await exported(other);
    [headerText = '', ...rows] = (await exported(acme))
      .trim()
      .split('\n')
      .map((line, i) => (i === 0 ? line : readRow(line))) as [string, ...Row[]];
    await remove(acme);
  },
  close: () => server.close(),
  async check(input) {
    const snapshot = edited(input);
    const result = await importText(snapshot);
    if ('ok' in result) {
      assert(expected.includes(result.code), result.code);
      const { message = '' } = result;
      return `${result.code} ${message
        .replace(/^Line \d+: /, '')
        .replace(/".*"|\d+|\w+_\w+/gs, '…')
        .slice(0, 40)}`;
    }
    try {
      const first = await exported(acme);
      checkOwners(first);
      checkTypes(snapshot, first);
      assert.equal(await exported(other), otherBefore, 'another organization changed');
      await remove(acme);
      const again = await importText(complete(first.trim().split('\n')));
      assert(!('ok' in again), `its own export is refused: ${JSON.stringify(again)}`);
      assert.equal(await exported(acme), first, 'the second export differs');
      return 'accepted';
    } finally {
      await remove(acme);
    }
  },
});
