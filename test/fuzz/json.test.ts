import assert from 'node:assert/strict';
import { canonicalJson, type JsonValue, parseStrict } from '../../src/kernel/json.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { mutateJson } from './engine/mutate-json.ts';

const depthMax = 6;

interface Token {
  readonly text: string;
  readonly isKey: boolean;
}

/** The strings and numbers of a valid JSON text. */
function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/gs)].map(([token, string, colon]) => ({
    text: string ?? token,
    isKey: colon !== undefined,
  }));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function keyCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, one) => sum + keyCount(one), own);
}

/** A number as an integer divided by a power of ten. */
function exactOf(text: string): { readonly digits: bigint; readonly exponent: number } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/0+$/, '');
  const dropped = whole.length + fraction.length - digits.length;
  return { digits: BigInt(`${sign}${digits || 0}`), exponent: Number(exponent) - fraction.length + dropped };
}

/** Whether a double is an integer although the number is not, or too large for exact integers. */
function isLost(text: string): boolean {
  const number = Number(text);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) return true;
  const { digits, exponent } = exactOf(text);
  return Number.isInteger(number) && digits !== 0n && exponent < 0;
}

/** Why the text is not accepted although it is JSON, by a second implementation. */
function lossOf(text: string, value: unknown): string | undefined {
  if (depthOf(value) > depthMax) return 'depth';
  const tokens = tokensOf(text);
  if (tokens.filter(({ isKey }) => isKey).length !== keyCount(value)) return 'duplicate key';
  const strings = tokens
    .filter((token) => token.text.startsWith('"'))
    .map((token) => JSON.parse(token.text) as string);
  if (tokens.some((token) => token.isKey && JSON.parse(token.text) === '__proto__')) return '__proto__';
  if (strings.some((string) => string.includes('\0') || !string.isWellFormed())) return 'character';
  return tokens.some((token) => !token.text.startsWith('"') && isLost(token.text)) ? 'number' : undefined;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

fuzz({
  name: 'json',
  seeds: [
    ...[
      '{"amount":1250,"currency":"EUR","metadata":{"a":"b"}}',
      '[1,-0.5,1e3,0,true,false,null,"\\u00e9\\n",""]',
      ' {"a" : [ { } , [ ] ] } \n',
    ],
    ...[
      '9007199254740991',
      '-9007199254740993',
      '1.0000000000000000001',
      '1e400',
      '"\\ud83d\\ude00"',
      '{"a":1,"a":2}',
      '{"__proto__":1}',
    ],
    ...['[[[[[[[1]]]]]]]', '"\\u0000"', '\ufeff1'],
  ],
  dictionary: [
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u',
      '\\u0000',
      '\\ud800',
      '\\udc00',
      'true',
      'false',
      'null',
      '"a":',
      '"__proto__":',
    ],
    ...[
      'e',
      'E+',
      '.',
      '-',
      '0',
      '00',
      '0.',
      '"\\u0061":',
      '/*',
      '//',
      'NaN',
      '1e-400',
      '.05',
      '000000000000000',
      '9999999999999999',
    ],
  ],
  generate(random, input) {
    const value = mutateJson(parsed(input)?.value ?? { a: [1, 'b'] }, random, [
      'a',
      '"',
      '\\',
      '\n',
      '\ud800',
    ]);
    return JSON.stringify(value) ?? 'null';
  },
  check(text) {
    const reading = parseStrict(text, depthMax);
    const expected = parsed(text);
    if (!reading.ok) {
      const { code, message, param } = reading;
      assert.match(param, /^(\/([^~/]|~[01])*)*$/, 'not a JSON pointer');
      assert(param.isWellFormed() && message.isWellFormed() && !`${param}${message}`.includes('\0'));
      if (!expected) return code;
      assert.equal(code, 'invalid_request', `JSON.parse accepts the text: ${message}`);
      const loss = lossOf(text, expected.value);
      assert(loss !== undefined, `nothing is lost: ${message}`);
      return loss;
    }
    assert(expected, 'JSON.parse rejects the text');
    assert.equal(lossOf(text, expected.value), undefined);
    assert.deepEqual(reading.value, expected.value);
    const canonical = canonicalJson(reading.value);
    const again = parsed(canonical)?.value as JsonValue;
    // Both write -0 as 0.
    assert.deepEqual(again, JSON.parse(JSON.stringify(reading.value)));
    assert.equal(canonicalJson(again), canonical);
    return `accepted ${typeof reading.value}`;
  },
});
