import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseData } from './json.ts';

test.each(['', '{', '{a: 1}', 'undefined', "{'a': 1}", '[]', '[{}]', 'null', '1', '"text"', 'true'])(
  '%j is rejected with a message',
  (text) => {
    expect(parseData(text)).toEqual({ ok: false, error: expect.stringMatching(/JSON/) });
  },
);

test.each(['{"amount": 9007199254740993}', '{"a": [{"b": -9007199254740992}]}', '{"a": 1e300}'])(
  '%s is rejected, because parsing changes the number',
  (text) => {
    expect(parseData(text)).toMatchObject({ ok: false });
  },
);

test('the error names the field with the number', () => {
  expect(parseData('{"a": {"amount": 9007199254740993}}')).toEqual({
    ok: false,
    error: expect.stringContaining('“amount”'),
  });
});

test('the largest safe integers are accepted', () => {
  expect(parseData('{"a": 9007199254740991, "b": -9007199254740991}').ok).toBe(true);
});

test('an object is accepted unchanged', () => {
  const values = fc.oneof(
    fc.string(),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string()),
  );
  const objects = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), values, { noNullPrototype: true });
  fc.assert(
    fc.property(objects, (value) => {
      const text = JSON.stringify(value);
      expect(parseData(text)).toEqual({ ok: true, value: JSON.parse(text) });
    }),
  );
});
