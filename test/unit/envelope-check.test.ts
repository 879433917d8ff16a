import { describe, expect, test } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { type Body, expectEnvelope } from '../support/api-client.ts';

const requestId = 'req_01m7epxwjmf7za77rhky2f93cc';
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'api-version': apiVersion,
  'request-id': requestId,
};
const payment = { object: 'payment', sandbox: true, requestId, status: 'captured' };
const error = {
  code: 'resource_not_found',
  message: 'There is no such payment.',
  retryable: false,
  docUrl: '/docs/errors#resource_not_found',
};
const errorBody = { object: 'error', sandbox: true, requestId, status: 'error', error };

function check(status: number, body: object, more: object = {}): void {
  expectEnvelope({ status, headers: { ...headers, ...more }, text: '' }, body as Body);
}

/** Tests the checks of the test kit: a check that cannot fail proves nothing about 100,000 responses. */
describe('the response check', () => {
  test('accepts a record, a replay of an earlier request, and an error', () => {
    check(200, payment);
    check(200, { ...payment, requestId: requestId.replace('01', '02') }, { 'idempotent-replayed': 'true' });
    check(404, errorBody);
  });

  test.each<[broken: string, status: number, body: object, headers?: object]>([
    ['content-type', 200, payment, { 'content-type': 'application/json' }],
    ['api-version', 200, payment, { 'api-version': undefined }],
    ['request-id', 200, payment, { 'request-id': undefined }],
    ['sandbox', 200, { ...payment, sandbox: false }],
    ['object', 200, { ...payment, object: undefined }],
    ['object', 200, { ...payment, object: 'error' }],
    ['status', 200, { ...payment, status: undefined }],
    ['status', 200, { ...payment, status: 'error' }],
    ['requestId', 200, { ...payment, requestId: undefined }],
    ['requestId', 200, { ...payment, requestId: requestId.replace('01', '02') }],
    ['requestId', 200, payment, { 'idempotent-replayed': 'true' }],
    ['object', 404, { ...errorBody, object: 'payment' }],
    ['status', 404, { ...errorBody, status: 'failed' }],
    ['list of fields', 404, { ...errorBody, id: 'pay_1' }],
    ['list of fields', 404, { ...errorBody, error: { ...error, hint: 'try again' } }],
    ['error.code', 404, { ...errorBody, error: { ...error, code: 'unheard_of' } }],
    ['error.code', 409, errorBody],
    ['error.retryable', 404, { ...errorBody, error: { ...error, retryable: true } }],
    ['error.docUrl', 404, { ...errorBody, error: { ...error, docUrl: '/docs/errors' } }],
    ['error.message', 404, { ...errorBody, error: { ...error, message: ' ' } }],
    ['error.param', 404, { ...errorBody, error: { ...error, param: 1 } }],
    ['error.details', 404, { ...errorBody, error: { ...error, details: 'x' } }],
    ['error.allowedActions', 404, { ...errorBody, error: { ...error, allowedActions: {} } }],
  ])('rejects a response with an invalid %s: %s %s', (broken, status, body, more) => {
    expect(() => check(status, body, more)).toThrow(broken);
  });
});
