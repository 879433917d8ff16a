import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Application } from '../../generated/shapes.ts';
import { type Draft, draftOf, fieldErrors, patchOf } from './draft.ts';
import { parsePercent, percentText } from './percent.ts';

const application: Application = {
  object: 'application',
  sandbox: true,
  id: 'app_1',
  name: 'Shop',
  status: 'active',
  fee: { basisPoints: 290, fixedAmount: 30 },
  provider: 'meridian',
  fx: { marginBasisPoints: 50, rates: { 'EUR/USD': '1.0842', 'EUR/GBP': '0.85' } },
  webhookDefaults: { eventTypes: ['*'], retryProfile: 'standard', maxConcurrency: 10 },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const draft = draftOf(application);
const limits = { feeBasisPointsMax: 10_000, fxMarginMax: 5_000, webhookConcurrencyMax: 64 };
const [dollar, pound] = draft.rates;
if (dollar === undefined || pound === undefined) throw new Error('the application has two rates');

describe('percentages', () => {
  test.each([
    [0, '0'],
    [1, '0.01'],
    [10, '0.1'],
    [50, '0.5'],
    [100, '1'],
    [290, '2.9'],
    [299, '2.99'],
    [1000, '10'],
    [10000, '100'],
  ])('%i basis points are %s percent', (basisPoints, text) => {
    expect(percentText(basisPoints)).toBe(text);
    expect(parsePercent(text)).toBe(basisPoints);
  });

  test('every whole number of basis points survives the form', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999 }), (basisPoints) => {
        expect(parsePercent(percentText(basisPoints))).toBe(basisPoints);
      }),
    );
  });

  test.each([
    ['2,9', 290],
    ['.5', 50],
    ['1.', 100],
  ])('%j is read like an amount', (text, basisPoints) => {
    expect(parsePercent(text)).toBe(basisPoints);
  });

  test.each(['', ' ', '.', '-1', '+1', '1e2', '2.999', '2.9%', 'abc'])('%j is rejected', (text) => {
    expect(parsePercent(text)).toBeUndefined();
  });
});

test('the form is prefilled with the saved settings', () => {
  expect(draft).toEqual({
    name: 'Shop',
    feePercent: '2.9',
    feeFixed: '30',
    provider: 'meridian',
    margin: '0.5',
    rates: [
      { row: 0, source: 'EUR', target: 'USD', rate: '1.0842' },
      { row: 1, source: 'EUR', target: 'GBP', rate: '0.85' },
    ],
    eventTypes: ['*'],
    retryProfile: 'standard',
    concurrency: '10',
  });
});

describe('the settings that are sent', () => {
  test.each<[string, Partial<Draft>, object]>([
    ['nothing', {}, {}],
    ['only spaces around the name', { name: ' Shop ' }, {}],
    ['the name', { name: ' Store ' }, { name: 'Store' }],
    ['the fee percentage', { feePercent: '1.25' }, { fee: { basisPoints: 125, fixedAmount: 30 } }],
    ['the fixed fee', { feeFixed: '0' }, { fee: { basisPoints: 290, fixedAmount: 0 } }],
    ['another provider', { provider: 'tidewater' }, { provider: 'tidewater' }],
    ['no provider', { provider: '' }, { provider: null }],
    ['the margin', { margin: '1' }, { fx: { marginBasisPoints: 100 } }],
    ['the order of the rates', { rates: [pound, dollar] }, {}],
    ['a removed rate', { rates: [dollar] }, { fx: { rates: { 'EUR/USD': '1.0842' } } }],
    ['all rates removed', { rates: [] }, { fx: { rates: {} } }],
    [
      'a changed rate and margin',
      { margin: '0', rates: [{ ...dollar, rate: ' 1.1 ' }, pound] },
      { fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '1.1', 'EUR/GBP': '0.85' } } },
    ],
    [
      'a rate with a decimal comma',
      { rates: [{ ...dollar, rate: '1,1' }, pound] },
      { fx: { rates: { 'EUR/USD': '1.1', 'EUR/GBP': '0.85' } } },
    ],
    ['a rate to the same number', { rates: [{ ...dollar, rate: '1,0842' }, pound] }, {}],
    [
      'the event types',
      { eventTypes: ['payment.*'] },
      { webhookDefaults: { eventTypes: ['payment.*'], retryProfile: 'standard', maxConcurrency: 10 } },
    ],
    [
      'the concurrency',
      { concurrency: '64' },
      { webhookDefaults: { eventTypes: ['*'], retryProfile: 'standard', maxConcurrency: 64 } },
    ],
  ])('after a change of %s', (_, part, patch) => {
    expect(patchOf(application, { ...draft, ...part })).toStrictEqual(patch);
  });
});

describe('validation', () => {
  test('accepts what the server saved', () => {
    expect(fieldErrors(draft, limits)).toEqual({});
  });

  test.each<[keyof Draft, Partial<Draft>]>([
    ['name', { name: ' ' }],
    ['feePercent', { feePercent: '100.01' }],
    ['feePercent', { feePercent: 'abc' }],
    ['feeFixed', { feeFixed: '1.5' }],
    ['feeFixed', { feeFixed: '' }],
    ['feeFixed', { feeFixed: '-1' }],
    ['margin', { margin: '50.01' }],
    ['eventTypes', { eventTypes: [] }],
    ['concurrency', { concurrency: '0' }],
    ['concurrency', { concurrency: '65' }],
    ['concurrency', { concurrency: '' }],
  ])('reports %s alone for %j', (name, part) => {
    expect(Object.keys(fieldErrors({ ...draft, ...part }, limits))).toEqual([name]);
  });

  test.each<Partial<Draft>>([
    { feePercent: '0' },
    { feePercent: '100' },
    { feeFixed: '0' },
    { feeFixed: '999999999999' },
    { margin: '50' },
    { concurrency: '1' },
    { concurrency: '64' },
    { rates: [] },
  ])('accepts the limits: %j', (part) => {
    expect(fieldErrors({ ...draft, ...part }, limits)).toEqual({});
  });

  test.each<[string, string, string, boolean]>([
    ['EUR', 'USD', '1.0842', true],
    ['EUR', 'USD', '0.000000000001', true],
    ['EUR', 'USD', '999999999', true],
    ['EUR', 'USD', ' 1 ', true],
    ['EUR', 'USD', '0', false],
    ['EUR', 'USD', '0.000', false],
    ['EUR', 'USD', '-1', false],
    ['EUR', 'USD', '01', false],
    ['EUR', 'USD', '1.', true],
    ['EUR', 'USD', '1,0842', true],
    ['EUR', 'USD', '1,250', false],
    ['EUR', 'USD', '.5', false],
    ['EUR', 'USD', '1e3', false],
    ['EUR', 'USD', '1.0000000000001', false],
    ['EUR', 'USD', '1000000000', false],
    ['EUR', 'USD', '', false],
    ['EUR', 'EUR', '1', false],
    ['eur', 'USD', '1', false],
    ['EURO', 'USD', '1', false],
    ['', 'USD', '1', false],
  ])('a rate from %j to %j of %j is accepted: %s', (source, target, rate, isAccepted) => {
    const { rateRows } = fieldErrors({ ...draft, rates: [{ row: 4, source, target, rate }] }, limits);
    expect([...(rateRows?.keys() ?? [])]).toEqual(isAccepted ? [] : [4]);
  });

  test.each([
    ['', 'USD', '', 'pair'],
    ['EUR', 'EUR', '1', 'pair'],
    ['EUR', 'USD', '1,250', 'rate'],
  ])('only the wrong input of a rate from %j to %j of %j is marked: %s', (source, target, rate, field) => {
    const { rateRows } = fieldErrors({ ...draft, rates: [{ row: 4, source, target, rate }] }, limits);
    expect(rateRows?.get(4)?.field).toBe(field);
  });

  test('a pair that appears twice is reported at the second row', () => {
    const { rateRows } = fieldErrors({ ...draft, rates: [dollar, pound, { ...dollar, row: 9 }] }, limits);
    expect([...(rateRows?.keys() ?? [])]).toEqual([9]);
  });
});
