import { describe, expect, it } from 'vitest';
import { ratePattern } from '../kernel/application-settings.ts';
import { findCurrency } from '../kernel/currency.ts';
import { formatRate, parseRate } from './fx.ts';
import { usdRates } from './rates.ts';

const codes = Object.keys(usdRates);

describe('the table of rates', () => {
  it('has at least 35 ISO currencies, with zero, two and three decimals', () => {
    expect(codes.length).toBeGreaterThanOrEqual(35);
    for (const code of codes) expect(findCurrency(code)?.code).toBe(code);
    const exponents = new Set(codes.map((code) => findCurrency(code)?.exponent));
    expect([...exponents].sort()).toEqual([0, 2, 3]);
    const needed = [
      'JPY',
      'KRW',
      'CLP',
      'VND',
      'ISK',
      'PYG',
      'UGX',
      'XAF',
      'KWD',
      'BHD',
      'JOD',
      'OMR',
      'TND',
    ];
    expect(codes).toEqual(expect.arrayContaining([...needed, 'USD', 'EUR', 'GBP', 'CHF']));
  });

  it('has valid rates, is sorted, and its USD rate is 1', () => {
    for (const rate of Object.values(usdRates)) {
      expect(rate).toMatch(new RegExp(ratePattern));
      expect(formatRate(parseRate(rate))).toBe(rate);
    }
    expect(codes).toEqual(codes.toSorted());
    expect(usdRates.USD).toBe('1');
  });
});
