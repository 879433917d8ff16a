import { describe, expect, test } from 'vitest';
import { newSuffix } from '../engine/ids.ts';
import type { RequestCounts } from '../engine/request-journal.ts';
import { formatId } from '../kernel/ids.ts';
import type { Principal } from '../kernel/route.ts';
import type { RequestRow } from '../resources/requests/table.ts';
import { RequestLog } from './request-log.ts';

const [orgId, appId, keyId] = [
  formatId('organization', newSuffix()),
  formatId('application', newSuffix()),
  formatId('api_key', newSuffix()),
];
const principal = { orgId, appId, actor: { kind: 'api_key', id: keyId } } as unknown as Principal;

/** A log, the rows and counts that it has written, and its uptime in milliseconds. */
function openLog() {
  const written = { rows: [] as RequestRow[], counts: [] as RequestCounts[] };
  const time = { now: 1_000 };
  const log = new RequestLog({
    journal: {
      write: async (rows) => void written.rows.push(...rows),
      count: async (counts) => void written.counts.push(counts),
    },
    wallClock: () => time.now,
    uptime: () => time.now,
    onError: (error) => {
      throw error;
    },
  });
  const answered = (responseBody: string) => {
    const counted = { principal, status: 200, errorCode: null, elapsedMs: 1, ip: '127.0.0.1' };
    log.count(counted);
    log.store({
      ...counted,
      id: formatId('request', newSuffix()),
      method: 'GET',
      url: '/_api/developer_api_payments',
      route: 'listPayments',
      idempotencyKey: '',
      isReplay: false,
      requestBody: null,
      responseBody,
      faultPlanId: null,
    });
  };
  return { log, written, time, answered };
}

describe('the request log under high load', () => {
  const long = JSON.stringify({ object: 'list', data: ['x'.repeat(16_000)] });

  test('stores the beginning of long responses once their total is too large, and all of short ones', async () => {
    const { log, written, time, answered } = openLog();
    for (let i = 0; i < 400; i += 1) answered(long);
    answered('{"object":"payment"}');
    time.now += 1_000;
    answered(long);
    await log.flush();
    const bodies = written.rows.map(({ responseBody }) => responseBody ?? '');
    expect(bodies[0]).toBe(long);
    expect(bodies.slice(-3)).toEqual([long.slice(0, 2_048), '{"object":"payment"}', long]);
    const complete = bodies.filter((body) => body === long).length - 1;
    expect(complete).toBe(Math.floor((4 * 1_024 * 1_024) / long.length));
  });

  test('adds up the uses of keys and the requests of a minute until they are written', async () => {
    const { log, written, answered } = openLog();
    for (let i = 0; i < 100; i += 1) answered('{}');
    await log.flush();
    expect(written.counts).toMatchObject([
      {
        minutes: [{ orgId, appId, requests: 100 }],
        keyUses: [{ orgId, id: keyId, lastUsedIp: '127.0.0.1' }],
      },
    ]);
  });
});
