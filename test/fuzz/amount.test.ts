import assert from 'node:assert/strict';
import { amountText as consoleText, editableAmount, formatAmount } from '../../console/client/amount.ts';
import { parseAmount, parseDecimal } from '../../sdk/amount.ts';
import { compileBody } from '../../src/http/validate.ts';
import { amountText, currencies, findCurrency } from '../../src/kernel/currency.ts';
import { parseStrict } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { Amount, strict } from '../../src/kernel/schema.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { below, pick, type Random } from './engine/random.ts';

const checkBody = compileBody(strict({ amount: Amount }));
/** Also every space of Unicode. */
const groupings = [
  ...' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
  "'",
  '\u2019',
  '.',
  ',',
];
const escaped = (text: string) => text.replace('.', '\\.');

/** Each notation of a number: no groups or one kind of groups, and a dot or a comma before the decimals. */
const notations = ['', ...groupings].flatMap((group) =>
  ['.', ',']
    .filter((decimal) => decimal !== group)
    .map((decimal) => ({
      group,
      pattern: new RegExp(
        `^(${group === '' ? '[0-9]*' : `[1-9][0-9]{0,2}(?:${escaped(group)}[0-9]{3})+`})(?:${escaped(decimal)}([0-9]*))?$`,
      ),
    })),
);

/** What a text can mean, in minor units. */
function meaningsOf(text: string, exponent: number): ReadonlySet<bigint> {
  const meanings = new Set<bigint>();
  for (const { group, pattern } of notations) {
    const [, whole, fraction = ''] = pattern.exec(text.trim()) ?? [];
    if (whole === undefined || whole + fraction === '' || fraction.length > exponent) continue;
    // A single dot is a decimal separator.
    if (group === '.' && /^[0-9]+\.[0-9]+$/.test(text.trim())) continue;
    const digits = group === '' ? whole : whole.replaceAll(group, '');
    meanings.add(BigInt(`${digits}${fraction.padEnd(exponent, '0')}`));
  }
  return meanings;
}

const isTooLarge = (amount: bigint, exponent: number) =>
  amount > BigInt(Number.MAX_SAFE_INTEGER) || amount >= 10n ** BigInt(12 + exponent);

function checkPerson(text: string, currency: string, exponent: number): string {
  const meanings = meaningsOf(text, exponent);
  const parsed = parseDecimal(text, exponent);
  const shown = parseAmount(text, currency.toLowerCase());
  assert.equal('problem' in shown, 'problem' in parsed);
  if ('problem' in parsed) {
    if (parsed.problem === 'ambiguous') assert(meanings.size > 1, 'not ambiguous');
    // The only meaning of a text is accepted, unless it is too large.
    if (parsed.problem !== 'too_large') assert(meanings.size !== 1, parsed.problem);
    else
      assert(
        [...meanings].every((meaning) => isTooLarge(meaning, exponent)),
        'not too large',
      );
    return parsed.problem;
  }
  assert(
    meanings.has(BigInt(parsed.units)),
    `read as ${parsed.units}, and can mean ${[...meanings].join(' or ')}`,
  );
  assert.equal(meanings.size, 1, `read as ${parsed.units}, and can mean ${[...meanings].join(' or ')}`);
  assert('minor' in shown && shown.minor === parsed.units);
  return `${exponent} decimals, ${parsed.hasDecimals ? 'with' : 'without'} fraction`;
}

/** What we write, we read, and the server writes the same. */
function checkRoundTrip(amount: number, currency: string): void {
  for (const text of [editableAmount(amount, currency), formatAmount(amount, currency)]) {
    const parsed = parseAmount(text, currency);
    if ('problem' in parsed) assert.match(parsed.problem, /^Ambiguous/, text);
    else assert.equal(parsed.minor, amount, text);
  }
  assert.equal(consoleText(amount, currency).replaceAll(',', ''), amountText(BigInt(amount), currency));
}

function checkApi(text: string): string {
  const body = parseStrict(`{"amount":${text}}`, 3);
  const isAccepted = body.ok && checkBody(body.value) === undefined;
  const [, whole = '', fraction = '', exponent = '0'] =
    /^[ \t\r\n]*([1-9][0-9]*|0)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?[ \t\r\n]*$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/0+$/, '');
  const zeros = Number(exponent) + whole.length - digits.length;
  // More zeros are certainly above the limit; less than none is a fraction.
  const isWhole = digits !== '' && zeros >= 0 && zeros <= 20;
  const amount = isWhole ? BigInt(digits + '0'.repeat(zeros)) : 0n;
  const expected = isWhole && amount >= 1n && amount <= BigInt(limits.amountMax);
  assert.equal(isAccepted, expected, `the API ${isAccepted ? 'accepts' : 'rejects'} ${text}`);
  if (isAccepted) assert.equal(BigInt((body.value as { amount: number }).amount), amount);
  return isAccepted ? 'valid in the API' : 'invalid in the API';
}

function generate(random: Random): string {
  const digits = Array.from({ length: 1 + below(random, 4) }, () => below(random, 1_000));
  const [first = 0, ...rest] = digits;
  const group = pick(random, ['', ...groupings]);
  const fraction = below(random, 10 ** below(random, 6));
  const number = [first, ...rest.map((part) => String(part).padStart(3, '0'))].join(group);
  const decimals = random() < 0.5 ? '' : `${pick(random, ['.', ','])}${fraction}`;
  return `${pick(random, currencies).code} ${number}${decimals}`;
}

fuzz({
  name: 'amount',
  seeds: [
    ...[
      'EUR 1250',
      'EUR 12.50',
      'EUR 12,50',
      'EUR 1,250',
      'EUR 1.250,50',
      "CHF 1'234.50",
      'SEK 1 234,50',
      'JPY 1,250',
      'KWD 1,250',
      'KWD 1.250',
      'KWD 0.001',
    ],
    ...[
      'EUR 999999999999',
      'EUR 1e3',
      'EUR 1000.0',
      'EUR 9007199254740993',
      'UYU 0',
      'EUR -5',
      'USD 0.005',
      'EUR ,5',
      'EUR 5.',
    ],
  ],
  dictionary: [
    '.',
    ',',
    ' ',
    "'",
    '\u2019',
    '\u00a0',
    '\u202f',
    '000',
    '1,234',
    '1.234',
    'e',
    'E+',
    '-',
    '+',
    '0',
    '999999999999',
    '1000000000000',
    'KWD ',
    'JPY ',
    '٣',
    '１',
  ],
  generate,
  check(input) {
    const currency = findCurrency(input.slice(0, 3));
    if (!currency) return 'no currency';
    const { code, exponent } = currency;
    const text = input.slice(4);
    const person = checkPerson(text, code, exponent);
    const amount = Number(text.replace(/[^0-9]/g, '').slice(0, 15));
    if (amount <= limits.amountMax) checkRoundTrip(amount, code);
    return `${person}, ${checkApi(text)}`;
  },
});
