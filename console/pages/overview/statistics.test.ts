import { describe, expect, test } from 'vitest';
import type { Overview } from '../../generated/shapes.ts';
import {
  completedPayments,
  errorCount,
  formatMilliseconds,
  latencyPoints,
  paymentCount,
  requestPoints,
  trendsOf,
  volumePoints,
  volumes,
  webhookPoints,
} from './statistics.ts';

const overview: Overview = {
  object: 'overview',
  sandbox: true,
  status: 'ok',
  range: '24h',
  time: 'real',
  isEmpty: false,
  from: '2026-10-30T00:00:00.000Z',
  to: '2026-10-30T03:00:00.000Z',
  bucketSeconds: 3_600,
  payments: {
    byStatus: [
      { status: 'captured', count: 5 },
      { status: 'refunded', count: 2 },
      { status: 'failed', count: 3 },
      { status: 'pending', count: 7 },
      { status: 'canceled', count: 1 },
    ],
    byBucket: [
      { at: '2026-10-30T00:00:00.000Z', status: 'captured', count: 5 },
      { at: '2026-10-30T00:00:00.000Z', status: 'pending', count: 7 },
      { at: '2026-10-30T02:00:00.000Z', status: 'refunded', count: 2 },
      { at: '2026-10-30T02:00:00.000Z', status: 'failed', count: 3 },
      { at: '2026-10-30T02:00:00.000Z', status: 'canceled', count: 1 },
    ],
    volume: [
      { at: '2026-10-30T00:00:00.000Z', currency: 'EUR', count: 1, amount: 1250 },
      { at: '2026-10-30T02:00:00.000Z', currency: 'EUR', count: 1, amount: '9007199254740993' },
      { at: '2026-10-30T02:00:00.000Z', currency: 'USD', count: 4, amount: 100 },
      { at: '2026-10-30T02:00:00.000Z', currency: 'CHF', count: 2, amount: 7 },
    ],
    currencies: ['EUR', 'USD', 'CHF'],
    ahead: 0,
    isCapped: false,
  },
  webhooks: {
    byBucket: [{ at: '2026-10-30T01:00:00.000Z', succeeded: 1_200, failed: 3 }],
    succeeded: 1_200,
    failed: 3,
    pending: 0,
    isCapped: false,
  },
  requests: {
    from: '2026-10-30T00:00:00.000Z',
    to: '2026-10-30T03:00:00.000Z',
    byBucket: [
      {
        at: '2026-10-30T00:00:00.000Z',
        count: 200,
        clientErrors: 1,
        serverErrors: 1,
        p50Ms: 1.25,
        p95Ms: 12_345,
      },
      { at: '2026-10-30T01:00:00.000Z', count: 0, clientErrors: 0, serverErrors: 0, p50Ms: 0, p95Ms: 0 },
    ],
    count: 200,
    errorRate: 0.01,
    p50Ms: 1.25,
    p95Ms: 12_345,
    notKept: 0,
  },
};

test('a payment counts as completed once it succeeded or failed', () => {
  expect(completedPayments(overview)).toEqual({ succeeded: 7, all: 10 });
  expect(paymentCount(overview)).toBe(18);
});

test.each([
  ...['authorized', 'partially_captured', 'captured', 'settled', 'partially_refunded', 'refunded'].map(
    (status) => [status, 1, 1] as const,
  ),
  ['disputed', 1, 1] as const,
  ['charged_back', 1, 1] as const,
  ['failed', 0, 1] as const,
  ...['pending', 'requires_action', 'processing', 'canceled', 'expired'].map(
    (status) => [status, 0, 0] as const,
  ),
])('a %s payment counts %i as succeeded and %i as completed', (status, succeeded, all) => {
  const payments = { ...overview.payments, byStatus: [{ status, count: 1 }] };
  expect(completedPayments({ ...overview, payments })).toEqual({ succeeded, all });
});

test('sums are exact beyond 2^53, and the busiest currency comes first', () => {
  expect(volumes(overview)).toEqual([
    { currency: 'USD', amount: '100', count: 4 },
    { currency: 'CHF', amount: '7', count: 2 },
    { currency: 'EUR', amount: '9007199254742243', count: 2 },
  ]);
});

describe('points of a chart', () => {
  test('cover the whole period, also where nothing happened', () => {
    const points = volumePoints(overview, 'EUR');
    expect(points.map(({ name }) => name)).toEqual(['00:00', '01:00', '02:00']);
    expect(points.map(({ title }) => title)).toEqual([0, 1, 2].map((hour) => `30 Oct 2026, 0${hour}:00 UTC`));
    expect(points.map(({ labels }) => labels.amount)).toEqual([
      '12.50 EUR',
      '0.00 EUR',
      '90,071,992,547,409.93 EUR',
    ]);
    expect(points.map(({ values }) => values.count)).toEqual([1, 0, 1]);
  });

  test('longer than a day are marked once a day', () => {
    const period = { ...overview, to: '2026-11-01T00:00:00.000Z', bucketSeconds: 21_600 };
    expect(webhookPoints(period).map(({ name }) => name)).toEqual([
      '30 Oct',
      '',
      '',
      '',
      '31 Oct',
      '',
      '',
      '',
    ]);
  });

  test('include a last bucket that is not complete', () => {
    expect(webhookPoints({ ...overview, to: '2026-10-30T02:00:01.000Z' })).toHaveLength(3);
  });

  test('are at most a thousand', () => {
    expect(webhookPoints({ ...overview, bucketSeconds: 1 })).toHaveLength(1_000);
  });

  test('of webhooks count successes and failures', () => {
    expect(webhookPoints(overview).map(({ labels }) => labels)).toEqual([
      { succeeded: '0', failed: '0' },
      { succeeded: '1,200', failed: '3' },
      { succeeded: '0', failed: '0' },
    ]);
  });

  test('of requests show the share of errors, and none without requests', () => {
    const points = requestPoints(overview);
    expect(points.map(({ values }) => values)).toEqual([
      { count: 200, share: 1 },
      { count: 0, share: null },
      { count: 0, share: null },
    ]);
    expect(points.map(({ labels }) => labels.share)).toEqual(['1.0%', '—', '—']);
    expect(errorCount(overview)).toBe(2);
  });

  test('of requests are in real time, although the others are in sandbox time', () => {
    const requests = {
      ...overview.requests,
      from: '2026-10-20T00:00:00.000Z',
      to: '2026-10-20T01:30:00.000Z',
    };
    const titles = requestPoints({ ...overview, time: 'sandbox', requests }).map(({ title }) => title);
    expect(titles).toEqual(['20 Oct 2026, 00:00 UTC', '20 Oct 2026, 01:00 UTC']);
  });

  test('of latencies have a gap where nothing was measured', () => {
    expect(latencyPoints(overview).map(({ values }) => values)).toEqual([
      { p50: 1.25, p95: 12_345 },
      { p50: null, p95: null },
      { p50: null, p95: null },
    ]);
  });
});

test('sparklines have a value for each bucket, and none where there is nothing to take a share of', () => {
  const { payments, volume, paymentSuccess, webhookSuccess, errorRate, latency } = trendsOf(overview);
  expect(payments).toEqual([12, 0, 6]);
  expect(volume, 'of the busiest currency').toEqual([0, 0, 100]);
  expect(paymentSuccess).toEqual([1, null, 0.4]);
  expect(webhookSuccess).toEqual([1_200 / 1_203]);
  expect(errorRate).toEqual([0.01, null]);
  expect(latency).toEqual([1.25, null]);
});

test.each([
  [null, '—'],
  [0, '0.0 ms'],
  [0.42, '0.4 ms'],
  [10, '10 ms'],
  [999.6, '1,000 ms'],
  [9_999, '9,999 ms'],
  [10_000, '10.0 s'],
  [65_432, '65.4 s'],
])('%s ms is shown as %s', (ms, text) => {
  expect(formatMilliseconds(ms)).toBe(text);
});
