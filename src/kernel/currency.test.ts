import { describe, expect, it, vi } from 'vitest';
import { amountText, currencies, findCurrency } from './currency.ts';

const codes = currencies.map((currency) => currency.code);

const withoutDecimals = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ');
const withThreeDecimals = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');
const notMoneyToPayWith =
  'XAU XAG XPT XPD XTS XXX XAD XDR XSU XUA XBA XBB XBC XBD CHE CHW BOV CLF COU MXV USN UYI UYW'.split(' ');
const withdrawn = 'ANG BGN CUC HRK SLL ZWL VEF BYR MRO STD LTL DEM'.split(' ');

describe('the currency table', () => {
  it('is sorted by code, each code once', () => {
    expect(codes).toEqual([...new Set(codes)].sort());
  });

  it('has every circulating currency, each with three capital letters and a name', () => {
    expect(currencies.length).toBeGreaterThan(150);
    for (const { code, name } of currencies) {
      expect(code).toMatch(/^[A-Z]{3}$/);
      expect(name.trim().length).toBeGreaterThan(3);
    }
    expect(codes).toEqual(expect.arrayContaining(['EUR', 'SLE', 'VED', 'VES', 'XCG', 'ZWG']));
  });

  it('has the exponents of ISO 4217, which are two by default', () => {
    const withExponent = (exponent: number) =>
      currencies.filter((currency) => currency.exponent === exponent).map((currency) => currency.code);
    expect(withExponent(0)).toEqual(withoutDecimals);
    expect(withExponent(3)).toEqual(withThreeDecimals);
    expect(withExponent(4)).toEqual([]);
    expect(
      ['HUF', 'IDR', 'COP', 'PKR', 'MRU', 'MGA', 'IRR'].map((code) => findCurrency(code)?.exponent),
    ).toEqual(Array(7).fill(2));
  });

  it('omits funds, metals, testing codes and withdrawn codes', () => {
    expect([...notMoneyToPayWith, ...withdrawn].filter((code) => codes.includes(code))).toEqual([]);
  });

  it('does not use Intl, whose table differs between versions of Node', async () => {
    vi.stubGlobal('Intl', undefined);
    vi.resetModules();
    const fresh = await import('./currency.ts');
    vi.unstubAllGlobals();
    expect(fresh.currencies).toEqual(currencies);
  });
});

describe('findCurrency', () => {
  it('finds every currency by its code', () => {
    for (const currency of currencies) expect(findCurrency(currency.code)).toBe(currency);
  });

  it.each(['', 'eur', 'EU', 'EURO', ' EUR', 'constructor', '__proto__', 'toString'])(
    'knows no %j',
    (code) => {
      expect(findCurrency(code)).toBeUndefined();
    },
  );
});

it.each([
  [1250n, 'EUR', '12.50 EUR'],
  [5n, 'EUR', '0.05 EUR'],
  [0n, 'EUR', '0.00 EUR'],
  [1250n, 'JPY', '1250 JPY'],
  [1250n, 'KWD', '1.250 KWD'],
])('%s minor units of %s are %s', (amount, currency, text) => {
  expect(amountText(amount, currency)).toBe(text);
});
