import { describe, expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import type { Submission } from '../kernel/command.ts';
import { BatchPriors, isDead, type Prior } from './batch-priors.ts';

const now = Date.UTC(2026, 0, 1);

function submission(key: string | null, appId: string | null = 'app_1', retakenAfterMs?: number) {
  const idempotency = key === null ? null : { key, fingerprint: new Uint8Array() };
  const kind = { name: 'test', ...(retakenAfterMs === undefined ? {} : { retakenAfterMs }) };
  return { context: { orgId: 'org_1', appId }, idempotency, kind, wallNow: now } as unknown as Submission;
}

const prior = (status: number, createdAt = now): Prior => ({
  ...{ fingerprint: new Uint8Array(), status, body: '{}', sealedBody: null, createdAt },
});

const inRow = { eventId: null, eventData: null, eventRequestId: null };

const answering = (rows: readonly object[]) =>
  ({ query: () => Promise.resolve(rows) }) as unknown as Connection;

describe('stored responses', () => {
  test('belong to the key and the application, or to the organization', () => {
    const priors = new BatchPriors();
    priors.set(submission('key'), prior(201));
    expect(priors.get(submission('key'))?.status).toBe(201);
    expect(priors.get(submission('other'))).toBeUndefined();
    expect(priors.get(submission('key', 'app_2'))).toBeUndefined();
    expect(priors.get(submission('key', null))).toBeUndefined();
  });

  test('do not exist for a request without a key', () => {
    const priors = new BatchPriors();
    priors.set(submission(null), prior(201));
    expect(priors.get(submission(null))).toBeUndefined();
  });

  test('of the database are matched with the requests by position', async () => {
    const priors = new BatchPriors();
    const claims = [submission('a'), submission('b')];
    await priors.load(answering([{ n: 2, orgId: 'org_1', key: 'b', ...prior(409), ...inRow }]), claims);
    expect(claims.map((claim) => priors.get(claim)?.status)).toEqual([undefined, 409]);
  });

  test('that refer to an event have the body that was sent: its record with the request id', async () => {
    const priors = new BatchPriors();
    const event = {
      eventId: 'evt_1',
      eventData: '{"object":"payment","sandbox":true}',
      eventRequestId: 'req_1',
    };
    const found = { n: 1, orgId: 'org_1', key: 'a', ...prior(201), body: '' };
    await priors.load(answering([{ ...found, ...event }]), [submission('a')]);
    expect(priors.get(submission('a'))?.body).toBe('{"object":"payment","sandbox":true,"requestId":"req_1"}');
    const missing = priors.load(answering([{ ...found, ...inRow, eventId: 'evt_1' }]), [submission('a')]);
    await expect(missing).rejects.toThrow('the event evt_1 of a stored response is missing');
  });

  test.each([
    ['another key', { n: 1, orgId: 'org_1', key: 'b' }],
    ['another organization', { n: 1, orgId: 'org_2', key: 'a' }],
    ['another position', { n: 2, orgId: 'org_1', key: 'a' }],
  ])('of %s are a bug', async (_what, found) => {
    const load = new BatchPriors().load(answering([{ ...found, ...prior(200) }]), [submission('a')]);
    await expect(load).rejects.toThrow('not requested');
  });

  test('are queried by organization, application and key', async () => {
    const queried: unknown[] = [];
    const query = (_statement: unknown, values: readonly unknown[]) => {
      queried.push(...values);
      return Promise.resolve([]);
    };
    await new BatchPriors().load({ query } as unknown as Connection, [
      submission('a'),
      submission('b', null),
    ]);
    expect(queried).toEqual([
      encodeArray('text', ['org_1', 'org_1']),
      encodeArray('text', ['app_1', '']),
      encodeArray('text', ['a', 'b']),
    ]);
  });

  test('are not queried without keys', async () => {
    await expect(new BatchPriors().load({} as Connection, [])).resolves.toBeUndefined();
  });
});

test.each<[what: string, prior: Prior, retakenAfterMs: number | undefined, expected: boolean]>([
  ['in progress for longer than allowed', prior(0, now - 1_001), 1_000, true],
  ['in progress for as long as allowed', prior(0, now - 1_000), 1_000, false],
  ['in progress without a limit', prior(0, 0), undefined, false],
  ['answered long ago', prior(201, 0), 1_000, false],
])('a request %s', (_what, one, retakenAfterMs, expected) => {
  expect(isDead(one, submission('key', 'app_1', retakenAfterMs))).toBe(expected);
});
