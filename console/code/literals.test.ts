import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLiteral, pythonLiteral, typescriptLiteral } from './literals.ts';

const values = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
const run = (code: string): unknown => new Script(`(${code})`).runInThisContext();

describe('a TypeScript literal', () => {
  test('is the value, whatever it contains', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(JSON.stringify(run(typescriptLiteral(value)))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('does not set a prototype', () => {
    const value: unknown = JSON.parse('{"__proto__":"text"}');
    expect(JSON.stringify(run(typescriptLiteral(value)))).toBe('{"__proto__":"text"}');
  });

  test('is on one line if it is short, and indented if it is long', () => {
    const value = { amount: 1250, currency: 'EUR', metadata: { 'order id': "it's" } };
    expect(typescriptLiteral(value)).toBe(
      `{ amount: 1250, currency: 'EUR', metadata: { 'order id': "it's" } }`,
    );
    const text = 'a'.repeat(50);
    expect(typescriptLiteral({ ...value, description: text })).toBe(
      [
        '{',
        '  amount: 1250,',
        "  currency: 'EUR',",
        `  metadata: { 'order id': "it's" },`,
        `  description: '${text}',`,
        '}',
      ].join('\n'),
    );
  });
});

test('a JSON literal is the value', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(JSON.stringify(JSON.parse(jsonLiteral(value)))).toBe(JSON.stringify(value));
    }),
  );
});

test('a Python literal has the constants of Python', () => {
  expect(pythonLiteral({ a: [true, false, null], b: 1.5, c: 'x"\n' })).toBe(
    String.raw`{"a": [True, False, None], "b": 1.5, "c": "x\"\n"}`,
  );
});
