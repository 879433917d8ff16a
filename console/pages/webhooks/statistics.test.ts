import { describe, expect, test } from 'vitest';
import type { WebhookStatistics } from '../../generated/shapes.ts';
import { attemptPoints, latencyPoints, rangeFrom, totalsOf } from './statistics.ts';

const none = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, noResponse: 0 };
const statistics: WebhookStatistics = {
  object: 'webhook_statistics',
  sandbox: true,
  status: 'ok',
  webhookId: 'whk_1',
  range: '24h',
  from: '2026-11-17T12:00:00.000Z',
  to: '2026-11-17T13:30:00.000Z',
  bucketSeconds: 3_600,
  isCapped: false,
  buckets: [
    {
      at: '2026-11-17T12:00:00.000Z',
      succeeded: 3,
      failed: 1,
      byClass: { ...none, '2xx': 3, '5xx': 1 },
      p50Ms: 12,
      p95Ms: 1_250,
    },
    {
      at: '2026-11-17T13:00:00.000Z',
      succeeded: 0,
      failed: 0,
      byClass: none,
      p50Ms: null,
      p95Ms: null,
    },
  ],
};

describe('the statistics of an endpoint', () => {
  test('count a failed attempt although its delivery succeeded later', () => {
    expect(totalsOf(statistics)).toEqual({
      succeeded: 3,
      failed: 1,
      byClass: { ...none, '2xx': 3, '5xx': 1 },
      p95Ms: 1_250,
    });
    expect(attemptPoints(statistics)[0]).toEqual({
      name: '12:00',
      title: '17 Nov 2026, 12:00 UTC',
      values: { succeeded: 3, failed: 1, rate: 75 },
      labels: { succeeded: '3', failed: '1', rate: '75.0%' },
    });
  });

  test('leave gaps where nothing was sent', () => {
    expect(attemptPoints(statistics)[1]).toMatchObject({ values: { rate: null }, labels: { rate: '—' } });
    expect(latencyPoints(statistics).map(({ labels }) => labels)).toEqual([
      { p50: '12 ms', p95: '1,250 ms' },
      { p50: '—', p95: '—' },
    ]);
  });

  test('name days once a day in long ranges', () => {
    const at = ['2026-11-17T00:00:00.000Z', '2026-11-17T06:00:00.000Z'];
    const buckets = statistics.buckets.map((bucket, i) => ({ ...bucket, at: at[i] ?? '' }));
    expect(attemptPoints({ ...statistics, range: '7d', buckets }).map(({ name }) => name)).toEqual([
      '17 Nov',
      '',
    ]);
  });

  test('default to a day', () => {
    expect([rangeFrom(undefined), rangeFrom('1y'), rangeFrom('7d')]).toEqual(['24h', '24h', '7d']);
  });
});
