import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { compileBody, compileQuery } from './validate.ts';

const strict = { additionalProperties: false };
const payment = Type.Object(
  {
    amount: Type.Integer({ minimum: 1, maximum: 100 }),
    currency: Type.Optional(Type.Enum(['EUR', 'USD'])),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    name: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
    note: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
    'a/b~c': Type.Optional(Type.Object({ deep: Type.Boolean() }, strict)),
  },
  strict,
);

describe('a body', () => {
  const check = compileBody(payment);

  test.each<[what: string, body: unknown, param: string, message: string]>([
    ['not an object', [], '', 'The body must be object.'],
    ['absent', undefined, '', 'The body must be object.'],
    ['without a required field', {}, '/amount', '/amount is required.'],
    ['below the minimum', { amount: 0 }, '/amount', '/amount must be >= 1.'],
    ['above the maximum', { amount: 101 }, '/amount', '/amount must be <= 100.'],
    ['a number as text', { amount: '1' }, '/amount', '/amount must be integer.'],
    [
      'an unknown field',
      { amount: 1, 'x/y~z': 1 },
      '/x~1y~0z',
      '/x~1y~0z is not a known field. Check its spelling, or leave it out.',
    ],
    [
      'another value than the listed ones',
      { amount: 1, currency: 'XYZ' },
      '/currency',
      '/currency must be one of EUR, USD.',
    ],
    ['another form', { amount: 1, name: 'A' }, '/name', '/name does not have the right form (^[a-z]+$).'],
    [
      'not a time',
      { amount: 1, at: 'today' },
      '/at',
      '/at must be a time in RFC 3339, for example 2026-11-15T09:30:00.000Z.',
    ],
    ['a field of neither type', { amount: 1, note: 7 }, '/note', '/note must be string or null.'],
    ['too long', { amount: 1, note: 'long' }, '/note', '/note must NOT have more than 3 characters.'],
    ['a nested field', { amount: 1, 'a/b~c': {} }, '/a~1b~0c/deep', '/a~1b~0c/deep is required.'],
  ])('%s', (_what, body, param, message) => {
    const error = { param, message };
    expect(check(body)).toEqual({
      ok: false,
      code: 'invalid_request',
      ...error,
      details: { errors: [error] },
    });
  });

  test('that fits is accepted, and not changed', () => {
    const body = Object.freeze({ amount: 100, currency: 'EUR', note: null, 'a/b~c': { deep: true } });
    expect(check(body)).toBeUndefined();
    expect(check({ amount: 1, note: 'abc' })).toBeUndefined();
  });

  test('of a part has the path of the part', () => {
    expect(compileBody(payment, '/payment')({ amount: 0 })?.param).toBe('/payment/amount');
  });
});

describe('all errors of a body', () => {
  const card = Type.Object({ type: Type.Literal('card'), number: Type.String() }, strict);
  const bank = Type.Object({ type: Type.Literal('bank'), account: Type.String() }, strict);
  const order = Type.Object(
    {
      ...payment.properties,
      method: Type.Optional(Type.Union([card, bank])),
      lines: Type.Optional(Type.Array(Type.Union([Type.String({ maxLength: 3 }), Type.Null()]))),
    },
    strict,
  );
  const check = compileBody(order);
  const errorsOf = (body: unknown) => check(body)?.details.errors.map(({ param }) => param);

  test('are reported at once, the first one first', () => {
    const refusal = check({ amuont: 5, currency: 'EURO', at: 'today', 'a/b~c': { deep: 1 } });
    expect(refusal).toMatchObject({ param: '/amount', message: '/amount is required.' });
    expect(refusal?.details.errors).toEqual([
      { param: '/amount', message: '/amount is required.' },
      { param: '/amuont', message: '/amuont is not a known field. Did you mean amount?' },
      { param: '/currency', message: '/currency must be one of EUR, USD. Did you mean EUR?' },
      { param: '/at', message: '/at must be a time in RFC 3339, for example 2026-11-15T09:30:00.000Z.' },
      { param: '/a~1b~0c/deep', message: '/a~1b~0c/deep must be boolean.' },
    ]);
  });

  test('are one for each value, whatever the alternatives of its schema', () => {
    expect(errorsOf({ amount: 1, note: 7, lines: ['long', 7, null, 'abc', 'longer'] })).toEqual([
      ...['/note', '/lines/0', '/lines/1', '/lines/4'],
    ]);
  });

  test('are those of the chosen form, and those beside it', () => {
    expect(errorsOf({ amount: 0, method: { type: 'card', numbr: '1' } })).toEqual([
      ...['/method/number', '/method/numbr', '/amount'],
    ]);
    expect(errorsOf({ amount: 0, method: { type: 'cash' } })).toEqual(['/method/type', '/amount']);
  });

  test('do not suggest a field that the body has already', () => {
    const [error] = check({ amount: 1, amont: 1 })?.details.errors ?? [];
    expect(error?.message).toBe('/amont is not a known field. Check its spelling, or leave it out.');
  });

  test('are at most twenty', () => {
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, i]));
    expect(errorsOf({ amount: 1, ...unknown })).toHaveLength(20);
  });

  test('of a body with very many fields are only the first one', () => {
    const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`x${i}`, i]));
    expect(errorsOf({ amount: 1, ...unknown })).toHaveLength(1);
    expect(errorsOf({ amount: 0, lines: Array.from({ length: 1_000 }, () => 7) })).toHaveLength(1);
  });
});

describe('a form that is described', () => {
  const check = compileBody(
    Type.Object({
      currency: Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'A three-letter ISO 4217 code, such as EUR.',
      }),
      customerId: Type.String({ pattern: '^cus_[0-7][0-9a-z]{25}$' }),
    }),
  );

  test('is explained by its description', () => {
    expect(
      check({ currency: 'EURO', customerId: 'pay_1' })?.details.errors.map(({ message }) => message),
    ).toEqual([
      '/currency does not have the right form. A three-letter ISO 4217 code, such as EUR.',
      '/customerId must be an id that begins with cus_.',
    ]);
  });
});

describe('a time', () => {
  const check = compileBody(Type.Object({ at: Type.String({ format: 'date-time' }) }));

  test.each([
    ['2026-01-31T23:59:59Z', true],
    ['2026-01-31T23:59:59.123456789Z', true],
    ['2026-01-31T23:59:59.1234567890Z', false],
    ['2026-01-31T23:59:59+15:59', true],
    ['2026-01-31T23:59:59-15:59', true],
    ['2026-01-31T23:59:59+16:00', false],
    ['2026-01-31T23:59:59', false],
    ['2026-01-31T24:00:00Z', false],
    ['2026-01-31T23:60:00Z', false],
    ['2026-01-31T23:59:60Z', false],
    ['2026-01-31 23:59:59Z', false],
    ['2026-01-31t23:59:59z', false],
    ['2026-01-31', false],
    ['2026-02-28T00:00:00Z', true],
    ['2026-02-29T00:00:00Z', false],
    ['2028-02-29T00:00:00Z', true],
    ['2100-02-29T00:00:00Z', false],
    ['2026-04-30T00:00:00Z', true],
    ['2026-04-31T00:00:00Z', false],
    ['2026-12-31T00:00:00Z', true],
    ['2026-12-32T00:00:00Z', false],
    ['2026-01-01T00:00:00Z', true],
    ['2026-01-00T00:00:00Z', false],
    ['2026-00-01T00:00:00Z', false],
    ['2026-13-01T00:00:00Z', false],
    ['0001-01-01T00:00:00Z', true],
    ['0000-01-01T00:00:00Z', false],
    ['9999-12-31T23:59:59Z', true],
    ['10000-01-01T00:00:00Z', false],
  ])('%s: accepted is %s', (at, isAccepted) => {
    expect(check({ at }) === undefined).toBe(isAccepted);
  });
});

describe('a body of several forms', () => {
  const card = Type.Object({ type: Type.Literal('card'), number: Type.String() }, strict);
  const bank = Type.Object({ type: Type.Enum(['bank', 'iban']), account: Type.String() }, strict);
  const check = compileBody(Type.Union([card, bank]));

  test.each<[what: string, body: unknown, refusal: object | undefined]>([
    ['the first form', { type: 'card', number: '1' }, undefined],
    ['the second form', { type: 'bank', account: '1' }, undefined],
    ['another value of the second form', { type: 'iban', account: '1' }, undefined],
    ['a field of the other form', { type: 'card', account: '1' }, { param: '/number' }],
    ['a missing field of the second form', { type: 'iban' }, { param: '/account' }],
    ['no form', {}, { param: '/type', message: '/type is required.' }],
    ['an unknown form', { type: 'x' }, { param: '/type', message: '/type must be one of card, bank, iban.' }],
    ['a list', [], { param: '', message: 'The body must be object.' }],
    ['null', null, { param: '', message: 'The body must be object.' }],
  ])('%s', (_what, body, refusal) => {
    if (refusal) expect(check(body)).toMatchObject(refusal);
    else expect(check(body)).toBeUndefined();
  });

  test('in a field is checked by its own form, with the path of the field', () => {
    const nested = compileBody(Type.Object({ method: Type.Optional(Type.Union([card, bank])) }, strict));
    expect(nested({})).toBeUndefined();
    expect(nested({ method: { type: 'card', number: '1' } })).toBeUndefined();
    expect(nested({ method: { type: 'iban' } })?.param).toBe('/method/account');
    expect(nested({ method: { type: 'x' } })).toMatchObject({
      param: '/method/type',
      message: '/method/type must be one of card, bank, iban.',
    });
    expect(nested({ method: {} })?.message).toBe('/method/type is required.');
    expect(nested(null)?.message).toBe('The body must be object.');
    expect(nested({ method: undefined })?.param).toBe('/method');
  });

  test('with one form that has no tag falls back to it', () => {
    const open = compileBody(Type.Union([card, Type.Object({ name: Type.Optional(Type.String()) }, strict)]));
    expect(open({})).toBeUndefined();
    expect(open({ name: 'x' })).toBeUndefined();
    expect(open({ name: 1 })?.param).toBe('/name');
    expect(open({ type: 'card' })?.param).toBe('/number');
    expect(open({ type: 'x' })?.message).toBe('/type must be one of card.');
  });

  test('with different tags asks for the fields of the last form', () => {
    const mixed = compileBody(
      Type.Union([
        Type.Object({ to: Type.Literal('a') }, strict),
        Type.Object({ from: Type.Literal('b') }, strict),
      ]),
    );
    expect(mixed({ to: 'a' })).toBeUndefined();
    expect(mixed({ from: 'b' })).toBeUndefined();
    expect(mixed({})?.message).toBe('/from is required.');
    expect(mixed({ to: 'x' })?.message).toBe('/to must be one of a.');
  });
});

describe('a rule among the fields of an object', () => {
  const properties = { a: Type.Optional(Type.Integer()), b: Type.Optional(Type.Integer()) };

  test('one of them at least', () => {
    const check = compileBody(Type.Object(properties, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }));
    expect([check({ a: 1 }), check({ b: 1 }), check({ a: 1, b: 1 })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(check({})).toMatchObject({ param: '', message: 'The body needs at least one of a, b.' });
  });

  test('exactly one of them', () => {
    const check = compileBody(Type.Object(properties, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }));
    expect([check({ a: 1 }), check({ b: 1 })]).toEqual([undefined, undefined]);
    for (const body of [{}, { a: 1, b: 1 }])
      expect(check(body)).toMatchObject({ param: '/a', message: 'Exactly one of a, b must be sent.' });
  });

  test('at least one field', () => {
    const check = compileBody(Type.Object(properties, { minProperties: 1 }));
    expect(check({})?.message).toBe('The body must have at least 1 field.');
  });

  test('the length of keys', () => {
    const check = compileBody(
      Type.Object({ metadata: Type.Object({}, { propertyNames: { minLength: 1, maxLength: 3 } }) }),
    );
    expect(check({ metadata: { abc: 1 } })).toBeUndefined();
    for (const metadata of [{ '': 1 }, { abcd: 1 }])
      expect(check({ metadata })?.message).toBe('A key of /metadata is too long, or empty.');
  });
});

describe('a query', () => {
  const schema = Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: -5, maximum: 100 })),
      status: Type.Optional(Type.String()),
      cursor: Type.Optional(Type.String()),
    },
    strict,
  );
  const check = compileQuery(schema);

  test.each<[query: Record<string, unknown>, result: string | Record<string, unknown>]>([
    [{}, {}],
    [{ limit: '100' }, { limit: 100 }],
    [{ limit: '-5' }, { limit: -5 }],
    [{ status: '100' }, { status: '100' }],
    [{ limit: '101' }, 'limit must be <= 100.'],
    [{ limit: '1.5' }, 'limit must be integer.'],
    [{ limit: ' 1' }, 'limit must be integer.'],
    [{ limit: '' }, 'limit must be integer.'],
    [{ limit: '1e1' }, 'limit must be integer.'],
    [{ limit: '0000000000000001' }, 'limit must be integer.'],
    [{ limit: '000000000000001' }, { limit: 1 }],
    [{ limit: ['1', '2'] }, 'limit must be integer.'],
    [{ statu: 'x' }, 'statu is not a known field. Did you mean status?'],
    [{ colour: 'x' }, 'colour is not a known field. Check its spelling, or leave it out.'],
    [{ status: 'a\0' }, 'status must not contain U+0000.'],
    [{ cursor: 'a\0' }, { cursor: 'a\0' }],
  ])('%j gives %j', (query, result) => {
    const refusal = check(query);
    expect(refusal?.message ?? query).toEqual(result);
    if (refusal) expect(refusal).toMatchObject({ code: 'invalid_request', param: Object.keys(query)[0] });
  });

  test('that must have a parameter is refused when it is empty', () => {
    const needed = compileQuery(Type.Object({ from: Type.String() }, strict));
    expect(needed({})).toMatchObject({ param: 'from', message: 'from is required.' });
  });
});
