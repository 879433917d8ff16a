import { below, pick, type Random, smallNumber } from './random.ts';

/** Characters that parsers confuse: controls, spaces, separators, full width, digits of other scripts, parts of pairs. */
const strange = [
  ...'\0\t\n\v\f\r\u001b\u007f\u0085\u00a0\u00ad\u0130\u017f\u0301\u0660\u06f5\u2003\u2028\u2029\u200b\u200d\u2019\u202e\u2212\u2215\u2395\u3002\ufeff',
  ...'\uff0b\uff0c\uff0d\uff0e\uff0f\uff10\uff11\uff1a\uff1d\uff20\uff21\ufffd\ufffe',
  ...['\ud800', '\udc80', '\udcff', '\udfff', '\u{1f600}', '\u{1d7ce}', '\u{10ffff}'],
];

const numbers = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '00',
    '01',
    '9',
    '10',
    '31',
    '32',
    '33',
    '63',
    '64',
    '127',
    '128',
    '129',
    '255',
    '256',
    '999',
  ],
  ...[
    '1000',
    '65535',
    '65536',
    '2147483647',
    '2147483648',
    '4294967295',
    '4294967296',
    '999999999999',
    '9007199254740991',
  ],
  ...[
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '18446744073709551616',
  ],
  ...['1e3', '1E400', '1e-400', '0.1', '.5', '5.', '1.0', '-1.5', '0x10', '010', '1_000', 'NaN', 'Infinity'],
];

type Mutation = (
  input: string,
  random: Random,
  others: readonly string[],
  dictionary: readonly string[],
) => string;

function replaced(input: string, random: Random, lengthMax: number, inserted: string): string {
  const at = below(random, input.length + 1);
  const length = smallNumber(random, Math.min(lengthMax, input.length - at));
  return input.slice(0, at) + inserted + input.slice(at + length);
}

function character(random: Random): string {
  if (random() < 0.25) return pick(random, strange);
  return String.fromCharCode(random() < 0.9 ? 0x20 + below(random, 0x5f) : below(random, 0x10000));
}

function part(text: string, random: Random): string {
  const at = below(random, text.length + 1);
  return text.slice(at, at + 1 + smallNumber(random, text.length - at));
}

const mutations: readonly Mutation[] = [
  (input, random) => replaced(input, random, 0, character(random)),
  (input, random) => replaced(input, random, 1, character(random)),
  (input, random) => replaced(input, random, 32, ''),
  (input, random, _others, dictionary) => replaced(input, random, 0, pick(random, dictionary)),
  (input, random, _others, dictionary) => replaced(input, random, 8, pick(random, dictionary)),
  // A part of the input, again somewhere else.
  (input, random) => replaced(input, random, 0, part(input, random)),
  (input, random) =>
    replaced(
      input,
      random,
      0,
      part(input, random)
        .slice(0, 8)
        .repeat(1 + smallNumber(random, 200)),
    ),
  // The end of another input.
  (input, random, others) => {
    const other = pick(random, others);
    return input.slice(0, below(random, input.length + 1)) + other.slice(below(random, other.length + 1));
  },
  (input, random, others) => replaced(input, random, 16, part(pick(random, others), random)),
  // A number in the input.
  (input, random) => {
    const found = [...input.matchAll(/\d+/g)];
    if (found.length === 0) return replaced(input, random, 0, pick(random, numbers));
    const { 0: digits, index } = pick(random, found);
    const near = [
      `${BigInt(digits) + 1n}`,
      `${BigInt(digits) - 1n}`,
      `0${digits}`,
      `${digits}0`,
      `-${digits}`,
    ];
    return input.slice(0, index) + pick(random, [...near, ...numbers]) + input.slice(index + digits.length);
  },
  // The case of a letter, or its full-width form.
  (input, random) => {
    const at = below(random, input.length + 1);
    const letter = input.charAt(at);
    const forms = [letter.toUpperCase(), letter.toLowerCase()];
    if (/^[!-~]$/.test(letter)) forms.push(String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
    return input.slice(0, at) + pick(random, forms) + input.slice(at + 1);
  },
];

/** Changes an input in one to eight places. `others` are inputs to take parts from. */
export function mutate(
  input: string,
  random: Random,
  others: readonly string[],
  dictionary: readonly string[],
): string {
  let mutated = input;
  for (let count = 1 + smallNumber(random, 7); count > 0; count -= 1)
    mutated = pick(random, mutations)(mutated, random, others, dictionary);
  return mutated;
}
