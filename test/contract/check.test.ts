import { describe, expect, test } from 'vitest';
import { operationExamples } from '../../src/http/openapi-examples.ts';
import { apiVersion, errorBody } from '../../src/kernel/envelope.ts';
import { type ErrorCode, errorCatalogue, refuse } from '../../src/kernel/errors.ts';
import { type Exchange, faultsOf } from '../support/contract-check.ts';

const examples = operationExamples() as Readonly<Record<string, { request?: object; response: object }>>;
const requestId = 'req_01kd3rn3c0e008000000000001';
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'request-id': requestId,
  'api-version': apiVersion,
};

/** An exchange that the document describes, made of its own example. */
function good(operationId: string, status: number, more: object = {}): Exchange {
  const { request, response } = examples[operationId] ?? { response: {} };
  return {
    operationId,
    isOfConsole: false,
    status,
    headers,
    text: JSON.stringify({ ...response, ...more }),
    asked: { headers: request ? { 'idempotency-key': 'order-1' } : {}, query: {}, body: request },
  };
}

function refused(operationId: string, code: ErrorCode, more: object = {}): Exchange {
  const text = errorBody(refuse(code), requestId, '/docs');
  return { ...good(operationId, errorCatalogue[code].status), text, headers: { ...headers, ...more } };
}

const created = good('createPayment', 201);
const listed = good('listPayments', 200);

describe('an exchange is what the document says', () => {
  test.each<[string, Exchange]>([
    ['a write', created],
    ['a list with a query', { ...listed, asked: { ...listed.asked, query: { limit: '2' } } }],
    ['a replay', { ...created, headers: { ...headers, 'idempotent-replayed': 'true' } }],
    ['a refusal', refused('advancePayment', 'invalid_state_transition')],
    ['a refusal that says when to come back', refused('listPayments', 'rate_limited', { 'retry-after': 1 })],
    ['an error that only people meet', { ...refused('listPayments', 'role_missing'), isOfConsole: true }],
  ])('%s', (_name, exchange) => {
    expect(faultsOf(exchange)).toEqual([]);
  });
});

describe('what the document does not say is found', () => {
  test.each<[string, Exchange, string]>([
    ['an operation', good('payTwice', 200), 'no operation payTwice'],
    ['a status', { ...created, status: 202 }, '202 is not declared'],
    ['a field', good('createPayment', 201, { colour: 'red' }), 'additional properties (colour)'],
    ['a field of an item', good('listPayments', 200, { data: [{ id: 'pay_1' }] }), 'body/data/0'],
    ['a field that is missing', good('createPayment', 201, { amount: undefined }), "'amount'"],
    ['a body without its request', good('createPayment', 201, { requestId: undefined }), 'no requestId'],
    [
      'a time in another form',
      good('createPayment', 201, { createdAt: '2026-11-15T09:30:00Z' }),
      '/createdAt',
    ],
    ['a header', { ...created, headers: { ...headers, 'x-debug': '1' } }, 'header x-debug is not declared'],
    [
      'a header that is promised',
      refused('listPayments', 'rate_limited'),
      'header retry-after is promised, and absent',
    ],
    [
      'a header in another form',
      { ...created, headers: { ...headers, 'api-version': 'newest' } },
      'header api-version',
    ],
    [
      'a content type',
      { ...created, headers: { ...headers, 'content-type': 'text/html' } },
      'content type text/html is not declared',
    ],
    [
      'a code of another status',
      { ...refused('createPayment', 'rate_limited'), status: 422 },
      'rate_limited is not declared for 422',
    ],
    [
      'a code that only people meet',
      refused('listPayments', 'role_missing'),
      'role_missing is not declared for 403',
    ],
    [
      'a query that was accepted',
      { ...listed, asked: { ...listed.asked, query: { colour: 'red' } } },
      'query colour was accepted',
    ],
    [
      'a value of a query that was accepted',
      { ...listed, asked: { ...listed.asked, query: { limit: '1000' } } },
      'query limit must be <= 100',
    ],
    [
      'a body that was accepted',
      { ...created, asked: { ...created.asked, body: { amount: -1 } } },
      'the accepted body',
    ],
    ['a missing body', { ...created, asked: { ...created.asked, body: undefined } }, 'without a body'],
    [
      'a missing key',
      { ...created, asked: { ...created.asked, headers: {} } },
      'header Idempotency-Key is required',
    ],
  ])('%s', (_name, exchange, fault) => {
    expect(faultsOf(exchange).join('\n')).toContain(fault);
  });
});
