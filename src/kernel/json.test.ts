import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonValue, parseStrict } from './json.ts';

const depthMax = 32;
const bodyBytesMax = 256 * 1024;

function accepted(text: string): JsonValue {
  const reading = parseStrict(text, depthMax);
  if (!reading.ok) throw new Error(`${reading.message} at ${reading.param}`);
  return reading.value;
}

function refused(text: string) {
  const reading = parseStrict(text, depthMax);
  if (reading.ok) throw new Error(`accepted: ${text}`);
  return reading;
}

describe('parseStrict accepts', () => {
  it.each([
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '10',
    '1.5',
    '-0.25e2',
    '1E+2',
    '1e-300',
    '9007199254740991',
    '-9007199254740991',
    '9007199254740990.0',
    '1.00000000000000000000',
    '""',
    '"a"',
    '"\u007f\u0080\u2028\ufeff"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00"',
    '"\ud83d\ude00"',
    '"plain \\u0041 and \\n mixed"',
    '[]',
    '{}',
    ' \t\r\n[ 1 , 2 ]\n',
    '{ "a" : { "b" : [ ] } , "c" : null }',
    '{"":1}',
    '{"1":"a","0":"b"}',
    '{"constructor":1,"toString":{"hasOwnProperty":2},"valueOf":null}',
  ])('%j as JSON.parse reads it', (text) => {
    expect(accepted(text)).toStrictEqual(JSON.parse(text));
  });

  it('nesting as deep as the limit', () => {
    expect(accepted('['.repeat(depthMax) + ']'.repeat(depthMax))).toBeDefined();
    expect(parseStrict('1', 0)).toEqual({ ok: true, value: 1 });
  });

  it('the same key in different objects', () => {
    expect(accepted('[{"a":{"a":1}},{"a":2}]')).toEqual([{ a: { a: 1 } }, { a: 2 }]);
  });
});

describe('parseStrict calls malformed', () => {
  it.each([
    ['', 1, 1, 'a value', 'the end of the text'],
    ['  ', 1, 3, 'a value', 'the end of the text'],
    ['\ufeff{}', 1, 1, 'a value', 'a byte order mark'],
    ['\u00a01', 1, 1, 'a value', 'U+00A0'],
    ['{}x', 1, 3, 'nothing after the value', '"x"'],
    ['1 2', 1, 3, 'nothing after the value', '"2"'],
    ['nul', 1, 1, 'a value', '"n"'],
    ['True', 1, 1, 'a value', '"T"'],
    ['NaN', 1, 1, 'a value', '"N"'],
    ["{'a':1}", 1, 2, 'a key in double quotes', '"\'"'],
    ['{\n  "a": 1,\n}', 3, 1, 'a key in double quotes', '"}"'],
    ['{"a":1,,}', 1, 8, 'a key in double quotes', '","'],
    ['{"a" 1}', 1, 6, '":" after the key', '"1"'],
    ['{"a":}', 1, 6, 'a value', '"}"'],
    ['{"a":1 "b":2}', 1, 8, '"," or "}" after the value', `'"'`],
    ['{"a":1', 1, 7, '"," or "}" after the value', 'the end of the text'],
    ['[1,]', 1, 4, 'a value', '"]"'],
    ['[,1]', 1, 2, 'a value', '","'],
    ['[1}', 1, 3, '"," or "]" after the value', '"}"'],
    ['[1 /* one */]', 1, 4, '"," or "]" after the value', '"/"'],
    ['01', 1, 2, 'a number written like', '"1"'],
    ['-01', 1, 3, 'a number written like', '"1"'],
    ['-', 1, 2, 'a number written like', 'the end of the text'],
    ['+1', 1, 1, 'a value', '"+"'],
    ['.5', 1, 1, 'a value', '"."'],
    ['1.', 1, 2, 'a number written like', '"."'],
    ['1.e5', 1, 2, 'a number written like', '"."'],
    ['1e', 1, 2, 'a number written like', '"e"'],
    ['1e+', 1, 2, 'a number written like', '"e"'],
    ['0x10', 1, 2, 'a number written like', '"x"'],
    ['[1-]', 1, 3, 'a number written like', '"-"'],
    ['"a', 1, 3, 'a closing quote', 'the end of the text'],
    ['"a\nb"', 1, 3, 'an escape such as \\n for a control character', 'U+000A'],
    ['"\u0000"', 1, 2, 'an escape such as \\n for a control character', 'U+0000'],
    ['"\\x41"', 1, 3, 'after the backslash', '"x"'],
    ['"\\', 1, 3, 'after the backslash', 'the end of the text'],
    ['"\\u12g4"', 1, 4, 'four hexadecimal digits', '"1"'],
    ['"\\u+123"', 1, 4, 'four hexadecimal digits', '"+"'],
    ['[\r\n1,\r\n\ud83d\ude00]', 3, 1, 'a value', 'U+1F600'],
  ])('%j, at line %i and column %i', (text, line, column, expected, found) => {
    const fault = refused(text);
    expect(fault).toMatchObject({ code: 'malformed_json', param: '' });
    expect(fault.message).toContain(`Not valid JSON at line ${line}, column ${column}: expected `);
    expect(fault.message).toContain(expected);
    expect(fault.message.endsWith(`, found ${found}.`)).toBe(true);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });
});

describe('parseStrict refuses well-formed JSON with', () => {
  const deep = (open: string, close: string) => open.repeat(depthMax + 1) + close.repeat(depthMax + 1);

  it.each([
    ['a repeated key', '{"a":1,"b":2,"a":3}', '/a', 'Duplicate key'],
    ['a repeated key written with escapes', '{"a":1,"\\u0061":2}', '/a', 'Duplicate key'],
    ['a repeated key with the same value', '{"m":[{"x":null,"x":null}]}', '/m/0/x', 'Duplicate key'],
    [
      'a repeated key that every object inherits',
      '{"toString":1,"toString":2}',
      '/toString',
      'Duplicate key',
    ],
    ['a repeated empty key', '{"":1,"":2}', '/', 'Duplicate key'],
    ['a repeated number as key', '{"7":1,"7":2}', '/7', 'Duplicate key'],
    ['a repeated key that needs escaping in a pointer', '{"a/b":{"~":1,"~":2}}', '/a~1b/~0', 'Duplicate key'],
    ['a key named __proto__', '{"__proto__":{"admin":true}}', '/__proto__', '__proto__'],
    ['an escaped key named __proto__', '{"m":{"\\u005f_proto__":1}}', '/m/__proto__', '__proto__'],
    ['arrays nested too deep', deep('[', ']'), '/0'.repeat(depthMax), 'more than 32 levels'],
    [
      'objects nested too deep',
      deep('{"a":', '}').replace(':}', ':1}'),
      '/a'.repeat(depthMax),
      'more than 32 levels',
    ],
    ['an integer too large', '{"amount":9007199254740992}', '/amount', 'too large'],
    ['an integer too small', '[0,-9007199254740992]', '/1', 'too large'],
    ['an integer whose digits would be lost', '9007199254740993', '', 'too large'],
    ['a fraction whose digits would be lost', '-12.000000000000000001', '', 'too many digits'],
    ['a large integer with decimals', '9007199254740992.0', '', 'too large'],
    ['a large integer with an exponent', '1e20', '', 'too large'],
    ['a fraction that becomes 0', '[0.5,1e-400]', '/1', 'too many digits'],
    ['a fraction with a negative exponent', '{"a":10000000000000000.5e-1}', '/a', 'too many digits'],
    ['a fraction after many zeros', `0.${'0'.repeat(500_000)}1`, '', 'too many digits'],
    ['a number that becomes infinite', '{"a":[-1e999]}', '/a/0', 'too large'],
    ['U+0000 in a string', '{"a":"x\\u0000y"}', '/a', 'U+0000'],
    ['U+0000 in a key', '{"o":{"x\\u0000":1}}', '/o', 'U+0000'],
    ['the first half of a pair', '["\\ud83d"]', '/0', 'surrogate'],
    ['the second half of a pair', '["\\ude00"]', '/0', 'surrogate'],
    ['the halves of a pair in reverse order', '["\\ude00\\ud83d"]', '/0', 'surrogate'],
    ['half of a pair, unescaped', '["a\ud83db"]', '/0', 'surrogate'],
    ['half of a pair in a key', '{"o":{"\\ud83d":1}}', '/o', 'surrogate'],
  ])('%s', (_, text, param, expected) => {
    expect(() => JSON.parse(text)).not.toThrow();
    const fault = refused(text);
    expect(fault).toMatchObject({ code: 'invalid_request', param });
    expect(fault.message).toContain(expected);
    expect(fault.message).toMatch(/\. (Each|Send|Use|Reduce|Remove) .+\.$/);
  });

  it('reports the first of several faults', () => {
    expect(refused('{"a":1,"a":2,').code).toBe('invalid_request');
    expect(refused('{"a":1 "a":2}').code).toBe('malformed_json');
  });

  it('does not change the prototype of objects', () => {
    refused('{"__proto__":{"polluted":1}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('parseStrict agrees with JSON.parse', () => {
  const value = fc.jsonValue({ maxDepth: 6 });

  it('on every value it accepts, and accepts all but the documented cases', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (original, indent) => {
        const text = JSON.stringify(original, null, indent);
        const reading = parseStrict(text, depthMax);
        if (reading.ok) expect(reading.value).toStrictEqual(JSON.parse(text));
        else
          expect({ code: reading.code, stricter: isRefused(original) }).toEqual({
            code: 'invalid_request',
            stricter: true,
          });
      }),
    );
  });

  const alphabet = fc.constantFrom(...'{}[],:"\\ \n\t0123456789-+.eEtruefalsn/bu\u0000\ud83d\ude00\ufeffé');
  const nearlyJson = fc.oneof(
    fc.string({ unit: alphabet, maxLength: 12 }),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(value, fc.nat(), fc.nat({ max: 2 }), fc.string({ unit: alphabet, maxLength: 2 }))
      .map(([json, at, cut, put]) => {
        const text = JSON.stringify(json);
        const position = at % (text.length + 1);
        return text.slice(0, position) + put + text.slice(position + cut);
      }),
  );

  it('on which texts are JSON at all', () => {
    fc.assert(
      fc.property(nearlyJson, (text) => {
        const reading = parseStrict(text, depthMax);
        const parsed = jsonParse(text);
        if (reading.ok) expect(parsed).toStrictEqual({ value: reading.value });
        else if (reading.code === 'malformed_json') expect(parsed).toBeUndefined();
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('parseStrict never throws', () => {
  it.each([
    '[',
    '{"a":',
    '"\\u',
    '"\\ud83d',
    '"',
    '{',
    ']',
    '1',
    '-',
    '[1,',
    '{"a":1,',
    '\n',
    '\u0000',
    '\\',
    '[[]',
    '"\\n',
  ])('on 256 KiB of %j', (unit) => {
    const text = unit.repeat(Math.floor(bodyBytesMax / unit.length));
    expect(parseStrict(text, depthMax).ok).toBe(false);
    expect(parseStrict(`[${text}`, depthMax).ok).toBe(false);
  });

  it('on a limit as deep as it allows', () => {
    expect(parseStrict('[{"a":'.repeat(1_000), 1_000).ok).toBe(false);
    expect(() => parseStrict('[]', 1_001)).toThrow('depthMax');
  });

  it('on a body full of distinct keys, which takes no more than linear time', () => {
    const entries = Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]);
    expect(accepted(JSON.stringify(Object.fromEntries(entries)))).toEqual(Object.fromEntries(entries));
  });
});

describe('canonicalJson', () => {
  it.each([
    [null, 'null'],
    [-0, '0'],
    [1e21, '1e+21'],
    [0.000001, '0.000001'],
    ['é "\\\n\u007f/', '"é \\"\\\\\\n\u007f/"'],
    [[3, [], {}], '[3,[],{}]'],
    [{ b: 1, a: [{ d: true, c: null }] }, '{"a":[{"c":null,"d":true}],"b":1}'],
    // RFC 8785 sorts by UTF-16 code units: the emoji begins with U+D83D and therefore sorts before U+FB33.
    [
      { '\ufb33': 1, '\ud83d\ude00': 2, '€': 3, '10': 4, '9': 5, '': 6 },
      '{"":6,"10":4,"9":5,"€":3,"\ud83d\ude00":2,"\ufb33":1}',
    ],
  ] satisfies [JsonValue, string][])('writes %j as %s', (json, text) => {
    expect(canonicalJson(json)).toBe(text);
  });

  const value = fc.jsonValue({ maxDepth: 5 }).map((json) => json as JsonValue);

  it('writes the same text for any key order', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(canonicalJson(reversed(json))).toBe(canonicalJson(json));
      }),
    );
  });

  it('is lossless: parsing the text returns the value', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(JSON.parse(canonicalJson(json))).toStrictEqual(JSON.parse(JSON.stringify(json)));
      }),
    );
  });
});

function jsonParse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** An independent implementation of the documented stricter cases, which checks the value instead of the text. */
function isRefused(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, member]) => key === '__proto__' || isRefused(key) || isRefused(member),
  );
}

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
