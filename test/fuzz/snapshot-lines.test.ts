import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { isId } from '../../src/kernel/ids.ts';
import {
  checkEnd,
  endLine,
  headerLine,
  isEndLine,
  isHeaderLine,
  readHeader,
  readRow,
  rowLine,
  type SnapshotEnd,
  SnapshotProblem,
  snapshotFormat,
  snapshotTables,
} from '../../src/snapshots/format.ts';
import type { NumberedLine } from '../../src/snapshots/import.ts';
import { linesOf, snapshotsOf } from '../../src/snapshots/lines.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { mutateJson } from './engine/mutate-json.ts';
import { below } from './engine/random.ts';

const schema = 30;
const suffix = '01m7epxwjmf7za77rhky2f93cc';
const orgId = `org_${suffix}`;
const header = headerLine({
  ...{
    format: snapshotFormat,
    version: 2,
    schema,
    exportedAt: '2026-11-15T09:30:00.000Z',
    hasSecrets: false,
  },
  organization: { id: orgId, name: 'Acme' },
});
const rows = [
  rowLine('organizations', JSON.stringify({ org_id: orgId, id: orgId, name: 'Acme' })),
  rowLine('applications', JSON.stringify({ org_id: orgId, id: `app_${suffix}`, name: 'web' })),
  rowLine(
    'payments',
    JSON.stringify({ org_id: orgId, id: `pay_${suffix}`, app_id: `app_${suffix}`, amount: 1250 }),
  ),
  rowLine(
    'timers',
    JSON.stringify({ org_id: orgId, app_id: `app_${suffix}`, due_at: null, metadata: { a: ['b'] } }),
  ),
];

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const countsOf = (lines: readonly string[]) => {
  const counts: Record<string, number> = {};
  for (const [, table = ''] of lines.join('').matchAll(/^\{"table":"(\w+)"/gm))
    counts[table] = (counts[table] ?? 0) + 1;
  return counts;
};
const complete = `${header}${rows.join('')}`;
const end = endLine({ counts: countsOf(rows), sha256: sha256(complete) });

/** A text as bytes; half of a pair from U+DC80 on is a byte that is not UTF-8. */
function bytesOf(text: string): Buffer {
  const parts = text.match(/[\udc80-\udcff]|[^\udc80-\udcff]+/g) ?? [];
  return Buffer.concat(
    parts.map((part) =>
      /^[\udc80-\udcff]$/.test(part) ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part),
    ),
  );
}

async function* chunks(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The snapshots of a file, each as lines; or the problem that ends it. */
async function read(bytes: Buffer, chunk: number): Promise<readonly (readonly NumberedLine[] | string)[]> {
  const snapshots: (readonly NumberedLine[] | string)[] = [];
  try {
    for await (const lines of snapshotsOf(linesOf(chunks(bytes, chunk)))) {
      const all: NumberedLine[] = [];
      for await (const line of lines) all.push(line);
      snapshots.push(all);
    }
  } catch (error) {
    assert(error instanceof SnapshotProblem, String(error));
    snapshots.push(error.message);
  }
  return snapshots;
}

/** Reads a line like an import does, and returns what it is. */
function readLine({ number, text }: NumberedLine, counted: SnapshotEnd, isFirst: boolean): string {
  if (isFirst) {
    const value = readHeader(text, number, schema);
    assert.deepEqual(value, JSON.parse(text));
    assert(typeof value.organization.id === 'string' && isId('organization', value.organization.id));
    assert.equal(typeof value.organization.name, 'string');
    assert(Number.isInteger(value.version) && value.version <= 2 && Number.isInteger(value.schema));
    assert.match(value.exportedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    return 'header';
  }
  if (isHeaderLine(text)) return 'another header';
  if (isEndLine(text)) {
    checkEnd(text, number, counted);
    const { counts, sha256: hash } = JSON.parse(text) as SnapshotEnd;
    assert.deepEqual({ ...counts }, { ...counted.counts });
    assert.equal(hash, counted.sha256);
    return 'end';
  }
  const row = readRow(text, number, orgId);
  const { id, org_id: owner } = row.fields;
  assert.deepEqual(JSON.parse(text), { table: row.table.name, row: row.fields });
  assert.equal(rowLine(row.table.name, row.text), `${text}\n`);
  assert.equal(owner, orgId);
  assert(snapshotTables.includes(row.table));
  // The database writes any other value as text into the column.
  if (row.table.ids) assert(typeof id === 'string' && isId(row.table.ids, id), 'not an id');
  return row.table.name;
}

/** The first problem; without one, what the last line is. */
function outcomeOf(lines: readonly NumberedLine[]): string {
  const read: string[] = [];
  const problems: string[] = [];
  for (const [i, line] of lines.entries()) {
    const before = lines.slice(0, i).map(({ text }) => `${text}\n`);
    try {
      read.push(readLine(line, { counts: countsOf(before), sha256: sha256(before.join('')) }, i === 0));
    } catch (error) {
      if (!(error instanceof SnapshotProblem)) throw error;
      assert(error.message.startsWith(`Line ${line.number}: `) && error.details.line === line.number);
      problems.push(
        `${error.code}: ${error.message
          .replace(/^Line \d+: /, '')
          .replace(/".*"|\d+/gs, '…')
          .slice(0, 28)}`,
      );
    }
  }
  return problems[0] ?? read.at(-1) ?? 'nothing';
}

fuzz({
  name: 'snapshot-lines',
  seeds: [
    `${complete}${end}`,
    complete,
    `${complete}${end}${header}${end}`,
    header.trim(),
    rows.join(''),
    `${header}${rows[2]}\n`,
  ],
  dictionary: [
    ...[
      '{"table":"',
      '","row":{',
      '{"format":',
      '{"counts":{',
      '},"sha256":"',
      '"signature":"',
      '\n',
      '\r\n',
      '}',
      '"org_id":',
      '"id":',
      '[',
      ']',
      '{}',
      'null',
    ],
    ...[
      '\udcff',
      '\udc80',
      '\udcc3',
      '\udced\udca0\udc80',
      '\ufeff',
      '\u2028',
      '\\u0000',
      '"__proto__":',
      '"constructor":',
      orgId,
      suffix,
      'pay_',
      'org_',
    ],
    ...snapshotTables.map(({ name }) => name),
  ],
  lengthMax: 3_000,
  /** Changes one line as JSON. */
  generate(random, input) {
    const lines = input.split('\n');
    const at = below(random, lines.length);
    try {
      lines[at] = JSON.stringify(
        mutateJson(JSON.parse(lines[at] ?? ''), random, ['id', 'org_id', orgId, 'payments', '\n', '\ud83d']),
      );
    } catch {
      lines[at] = rows[below(random, rows.length)]?.trim() ?? '';
    }
    return lines.join('\n');
  },
  async check(text) {
    const bytes = bytesOf(text);
    const snapshots = await read(bytes, Number.POSITIVE_INFINITY);
    for (const chunk of [Math.ceil(bytes.length / 97), 7])
      assert.deepEqual(await read(bytes, chunk), snapshots, `in chunks of ${chunk}`);
    const lines = snapshots.flatMap((one) => (typeof one === 'string' ? [] : one));
    if (!snapshots.some((one) => typeof one === 'string')) {
      const joined = lines.map((line) => (line.isTruncated ? line.text : `${line.text}\n`)).join('');
      assert(Buffer.from(joined).equals(bytes), 'not all bytes are in lines');
      assert.deepEqual(
        lines.map(({ number }) => number),
        lines.map((_, i) => i + 1),
      );
    }
    const outcomes = snapshots.map((one) => (typeof one === 'string' ? 'not UTF-8' : outcomeOf(one)));
    return outcomes[0] ?? 'nothing';
  },
});
