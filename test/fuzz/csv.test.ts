import assert from 'node:assert/strict';
import { csvOf } from '../../console/client/csv.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { mutateJson } from './engine/mutate-json.ts';

/** A reader by RFC 4180, character by character. */
function recordsOf(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isQuoted && character === '"' && text.charAt(at + 1) === '"') {
      cell += '"';
      at += 1;
    } else if (isQuoted && character === '"') {
      isQuoted = false;
      assert.match(text.charAt(at + 1), /^[,\r]$/, 'text after a closing quote');
    } else if (isQuoted) cell += character;
    else if (character === '"') {
      assert.equal(cell, '', 'a quote within a cell');
      isQuoted = true;
    } else if (character === ',') {
      record.push(cell);
      cell = '';
    } else if (character === '\r') {
      assert.equal(text.charAt(at + 1), '\n', 'a carriage return alone');
      records.push([...record, cell]);
      record = [];
      cell = '';
      at += 1;
    } else {
      assert.notEqual(character, '\n', 'a line feed alone');
      cell += character;
    }
  }
  assert(!isQuoted && record.length === 0 && cell === '', 'the last record has no end');
  return records;
}

/** As OWASP describes CSV injection: the first character decides. */
const formulaStarts = [...'=+-@\t\r\n', ...'＝＋－＠'];
const isNumber = (text: string) => /^[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/.test(text);
const isRun = (text: string) => formulaStarts.includes(text.charAt(0)) && !isNumber(text);

function rowsOf(text: string): readonly object[] | undefined {
  try {
    const rows: unknown = JSON.parse(text);
    const isRow = (row: unknown) => typeof row === 'object' && row !== null && !Array.isArray(row);
    return Array.isArray(rows) && rows.every(isRow) ? rows : undefined;
  } catch {
    return undefined;
  }
}

const omitted = ['object', 'sandbox', 'requestId', 'allowedActions', 'secretHint', 'lastFour'];

/** The path and text of each field. */
function fieldsOf(value: object, path: readonly string[] = []): [string, string][] {
  return Object.entries(value).flatMap(([name, field]) => {
    if (path.length === 0 && omitted.includes(name)) return [];
    const here = [...path, name];
    if (typeof field === 'object' && field !== null && !Array.isArray(field)) return fieldsOf(field, here);
    const text = Array.isArray(field) ? JSON.stringify(field) : String(field ?? '');
    return [[here.join('.'), text]];
  });
}

const written = (text: string) => (isRun(text) ? `'${text}` : text);

fuzz({
  name: 'csv',
  seeds: [
    ...[
      '[{"id":"pay_1","amount":1250,"metadata":{"a":"b"}},{"id":"pay_2","tags":["x","y"],"note":null}]',
      '[{"a":"x,\\"y\\"\\r\\nz","b":true}]',
    ],
    ...[
      '[{"note":"=1+1"},{"note":"-5"},{"note":"-5+1"},{"note":"\\t=1"},{"note":"@sum(A1)"}]',
      '[]',
      '[{"object":"payment","a":{"object":"x"}}]',
    ],
  ],
  dictionary: [
    ...[
      '=',
      '+',
      '-',
      '@',
      '\\t',
      '\\n',
      '\\r',
      '＝',
      '＋',
      '－',
      '＠',
      '"',
      '\\"',
      ',',
      ';',
      "'",
      '"a":',
      '{',
      '}',
      '[',
      ']',
      'null',
      'true',
      '-1',
      '1e400',
    ],
    ...['"__proto__":', '"metadata":', '"object":', '=1+1', '|', '%', '\ufeff', ' =', '"":""'],
  ],
  generate: (random, input) =>
    JSON.stringify(
      mutateJson(rowsOf(input) ?? [{ a: '=1' }], random, [
        '=',
        '-',
        '\n',
        '\r',
        '\t',
        '＝',
        '"',
        ',',
        'a.b',
        '',
        "'",
      ]),
    ),
  check(text) {
    const rows = rowsOf(text);
    if (!rows) return 'no rows';
    const fields = rows.map((row) => fieldsOf(row));
    // A field `a.b` beside a field `b` of `a` has the same column.
    if (fields.some((one) => new Set(one.map(([name]) => name)).size < one.length))
      return 'the same column twice';
    const [header = [], ...records] = recordsOf(csvOf(rows));
    const columns = [...new Set(fields.flatMap((one) => one.map(([name]) => name)))];
    assert.deepEqual(header, columns.length === 0 ? [''] : columns.map(written));
    assert.equal(records.length, rows.length);
    records.forEach((record, i) => {
      const row = new Map(fields[i]);
      assert.deepEqual(
        record,
        columns.length === 0 ? [''] : columns.map((column) => written(row.get(column) ?? '')),
      );
    });
    const cells = [header, ...records].flat();
    assert(!cells.some(isRun), 'a formula');
    return `${cells.some((cell) => cell.startsWith("'")) ? 'formula' : 'plain'}, ${cells.some((cell) => /["\r\n]/.test(cell)) ? 'quotes' : 'no quotes'}`;
  },
});
