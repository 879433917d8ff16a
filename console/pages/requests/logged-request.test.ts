import { describe, expect, test } from 'vitest';
import type { LoggedRequest } from '../../generated/shapes.ts';
import { apiRequestOf, canSendAgain, formatDuration, recordIds, shortPath } from './logged-request.ts';

const request: LoggedRequest = {
  object: 'request',
  sandbox: true,
  status: 'ok',
  id: 'req_1',
  at: '2026-01-01T00:00:00.000Z',
  method: 'POST',
  path: '/_api/developer_api_payments',
  query: null,
  route: 'createPayment',
  applicationId: null,
  httpStatus: 200,
  durationMs: 1,
  errorCode: null,
  actor: { kind: 'api_key', id: 'key_1', name: null },
  ip: null,
  idempotencyKey: null,
  isReplay: false,
  faultPlanId: null,
  requestBody: null,
  responseBody: null,
};

test.each([
  ['/_api/developer_api_payments/pay_1', 'developer_api_payments/pay_1'],
  ['/console/api/org_0a/app_1b/developer_api_payments', 'developer_api_payments'],
  ['/console/api/org_0a/app_1b/api_keys', 'api_keys'],
  ['/console/api/org_0a/members', 'members'],
  ['/console/api/session', '/console/api/session'],
  ['/healthz', '/healthz'],
])('%s is shown as %s', (path, short) => {
  expect(shortPath(path)).toBe(short);
});

test('a read has its path and query, and no body', () => {
  const read = { ...request, method: 'GET', path: '/console/api/org_0/app_0/developer_api_payments' };
  expect(apiRequestOf({ ...read, query: '?limit=1' })).toEqual({
    method: 'GET',
    path: 'developer_api_payments',
    query: 'limit=1',
  });
});

test.each([null, undefined, ''])('a write with the body %j has an empty object', (requestBody) => {
  const write = { ...request, ...(requestBody === undefined ? {} : { requestBody }) };
  expect(apiRequestOf(write)?.body).toBe('{}');
});

test('a request that only the console can send is not a request of the API', () => {
  expect(apiRequestOf({ ...request, path: '/console/api/org_0/members' })).toBeUndefined();
});

test('record ids are found once each, in order, and nothing that only resembles one', () => {
  const id = (prefix: string, last: string) => `${prefix}_01kd3rn3c0e00800000000000${last}`;
  const texts = {
    path: `/_api/developer_api_payments/${id('pay', '1')}`,
    requestBody: JSON.stringify({ customerId: id('cus', '2'), paymentId: id('pay', '1'), other: 'pay_123' }),
    responseBody: JSON.stringify({ requestId: id('req', '3'), id: id('rfd', '4') }),
  };
  expect(recordIds({ ...request, ...texts })).toEqual([id('pay', '1'), id('cus', '2'), id('rfd', '4')]);
});

test.each([
  [0.42, '0.4 ms'],
  [10, '10 ms'],
  [1234, '1,234 ms'],
])('%d ms is shown as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

describe('a request can be sent again', () => {
  const body = '{"amount":1,"currency":"EUR"}';

  test.each<[what: string, fields: Partial<LoggedRequest>]>([
    ['a write with its body', { requestBody: body }],
    ['a read', { method: 'GET', query: '?limit=1' }],
  ])('%s', (_, fields) => {
    expect(canSendAgain({ ...request, ...fields })).toBe(true);
  });

  test.each<[what: string, fields: Partial<LoggedRequest>]>([
    ['with a redacted secret', { requestBody: '{"secret":"[redacted]"}' }],
    ['with a masked card number', { requestBody: '{"number":"************4242"}' }],
    ['with a redacted query', { method: 'GET', query: '?token=%5Bredacted%5D' }],
    ['with a body that was cut', { requestBody: '{"description":"aaaa' }],
    ['without a stored body', { requestBody: null }],
    ['of the event stream', { method: 'GET', path: '/_api/developer_api_webhook_events/stream' }],
    ['of the console alone', { path: '/console/api/org_0/members', requestBody: '{}' }],
  ])('not %s', (_, fields) => {
    expect(canSendAgain({ ...request, ...fields })).toBe(false);
  });
});
