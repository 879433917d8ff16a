import { describe, expect, test } from 'vitest';
import { readExamples } from '../../src/http/openapi-examples.ts';
import { apiVersion, errorBody } from '../../src/kernel/envelope.ts';
import { type ErrorCode, errorCatalogue, refuse } from '../../src/kernel/errors.ts';
import { type Exchange, faultsOf } from '../support/contract-check.ts';

const examples = readExamples() as Readonly<Record<string, { request?: object; response: object }>>;
const requestId = 'req_01kd3rn3c0e008000000000001';
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'request-id': requestId,
  'api-version': apiVersion,
};

/** A valid exchange, built from the example in the document. */
function valid(operationId: string, status: number, more: object = {}): Exchange {
  const { request, response } = examples[operationId] ?? { response: {} };
  return {
    operationId,
    isOfConsole: false,
    status,
    headers,
    text: JSON.stringify({ ...response, ...more }),
    request: { headers: request ? { 'idempotency-key': 'order-1' } : {}, query: {}, body: request },
  };
}

function rejected(operationId: string, code: ErrorCode, more: object = {}): Exchange {
  const text = errorBody(refuse(code), requestId, '/docs');
  return { ...valid(operationId, errorCatalogue[code].status), text, headers: { ...headers, ...more } };
}

const created = valid('createPayment', 201);
const listed = valid('listPayments', 200);

describe('accepts', () => {
  test.each<[string, Exchange]>([
    ['a write', created],
    ['a list with a query', { ...listed, request: { ...listed.request, query: { limit: '2' } } }],
    ['a replay', { ...created, headers: { ...headers, 'idempotent-replayed': 'true' } }],
    ['an error', rejected('advancePayment', 'invalid_state_transition')],
    ['an error with Retry-After', rejected('listPayments', 'rate_limited', { 'retry-after': 1 })],
    ['an error of a console session', { ...rejected('listPayments', 'role_missing'), isOfConsole: true }],
  ])('%s', (_name, exchange) => {
    expect(faultsOf(exchange)).toEqual([]);
  });
});

describe('reports', () => {
  test.each<[string, Exchange, string]>([
    ['an undeclared operation', valid('payTwice', 200), 'no operation payTwice'],
    ['an undeclared status', { ...created, status: 202 }, '202 is not declared'],
    ['an undeclared field', valid('createPayment', 201, { colour: 'red' }), 'additional properties (colour)'],
    ['a field missing from an item', valid('listPayments', 200, { data: [{ id: 'pay_1' }] }), 'body/data/0'],
    ['a missing field', valid('createPayment', 201, { amount: undefined }), "'amount'"],
    ['a body without requestId', valid('createPayment', 201, { requestId: undefined }), 'no requestId'],
    [
      'an instant in another format',
      valid('createPayment', 201, { createdAt: '2026-11-15T09:30:00Z' }),
      '/createdAt',
    ],
    [
      'an undeclared header',
      { ...created, headers: { ...headers, 'x-debug': '1' } },
      'header x-debug is not declared',
    ],
    [
      'a missing header',
      rejected('listPayments', 'rate_limited'),
      'header retry-after is required but missing',
    ],
    [
      'a header in another format',
      { ...created, headers: { ...headers, 'api-version': 'newest' } },
      'header api-version',
    ],
    [
      'an undeclared content type',
      { ...created, headers: { ...headers, 'content-type': 'text/html' } },
      'content type text/html is not declared',
    ],
    [
      'an error code of another status',
      { ...rejected('createPayment', 'rate_limited'), status: 422 },
      'rate_limited is not declared for 422',
    ],
    [
      'a console error code on an API request',
      rejected('listPayments', 'role_missing'),
      'role_missing is not declared for 403',
    ],
    [
      'an undeclared query parameter that was accepted',
      { ...listed, request: { ...listed.request, query: { colour: 'red' } } },
      'query colour was accepted',
    ],
    [
      'an invalid query value that was accepted',
      { ...listed, request: { ...listed.request, query: { limit: '1000' } } },
      'query limit must be <= 100',
    ],
    [
      'an invalid body that was accepted',
      { ...created, request: { ...created.request, body: { amount: -1 } } },
      'the accepted body',
    ],
    ['a missing body', { ...created, request: { ...created.request, body: undefined } }, 'without a body'],
    [
      'a missing idempotency key',
      { ...created, request: { ...created.request, headers: {} } },
      'header Idempotency-Key is required',
    ],
  ])('%s', (_name, exchange, fault) => {
    expect(faultsOf(exchange).join('\n')).toContain(fault);
  });
});
