import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operations } from '../../sdk/generated/operations.ts';
import { postRequest, readRequest } from '../client/request.ts';
import { numbersInQueries, sampleOf } from './samples.ts';

const server = 'http://127.0.0.1:4000';
const typescriptCall = (sample = '') => /await (sandbank\.[^;]+);/.exec(sample)?.[1];

describe('curl', () => {
  test('reads a list with its query', () => {
    expect(sampleOf('curl', readRequest('developer_api_payments', { limit: 1 }), server)).toBe(
      `curl 'http://127.0.0.1:4000/_api/developer_api_payments?limit=1' \\\n  -H "Authorization: Bearer $SANDBANK_API_KEY"`,
    );
  });

  test('indents a long body below its option', () => {
    const body = { amount: 1250, currency: 'EUR', reference: 'order-1001', description: 'Two tickets' };
    const lines = sampleOf('curl', postRequest('developer_api_payments', body), server)?.split('\n');
    expect(lines?.slice(-6)).toEqual([
      "  -d '{",
      '    "amount": 1250,',
      '    "currency": "EUR",',
      '    "reference": "order-1001",',
      '    "description": "Two tickets"',
      "  }'",
    ]);
  });

  test('gets every body from a shell unchanged', () => {
    const bodies = fc.string({
      unit: fc.constantFrom("'", '"', '$', '`', '\\', '!', '\n', ' ', ';', '(', 'a', 'é'),
      minLength: 1,
    });
    fc.assert(
      fc.property(bodies, (body) => {
        const command = sampleOf('curl', { method: 'POST', path: 'developer_api_payments', body }, server);
        // `curl` is a function that prints its last argument.
        const script = `curl() { for last; do :; done; printf %s "$last"; }\n${command}`;
        expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })).toBe(body);
      }),
      { numRuns: 25 },
    );
  });
});

describe('TypeScript', () => {
  test.each([
    [
      postRequest('developer_api_payments', { amount: 1, currency: 'EUR' }),
      "sandbank.payments.create({ amount: 1, currency: 'EUR' })",
    ],
    [postRequest('developer_api_payments/pay_1/advance', {}), "sandbank.payments.advance('pay_1', {})"],
    [postRequest('developer_api_clock/freeze', {}), 'sandbank.clock.freeze()'],
    [postRequest('developer_api_webhook_inbox', {}), 'sandbank.webhooks.inbox({})'],
    [readRequest('developer_api_status'), 'sandbank.status()'],
    [readRequest('developer_api_audit_entries/verify'), 'sandbank.audit.verify()'],
    [
      readRequest('developer_api_payments/pay_1/history', { limit: 5 }),
      "sandbank.payments.history('pay_1', { limit: 5 })",
    ],
    [
      { ...postRequest('developer_api_payments/pay_1/refund', { amount: 1 }), query: 'expand=ledgerEntries' },
      "sandbank.payments.refund('pay_1', { amount: 1 }, { expand: 'ledgerEntries' })",
    ],
  ])('%o calls the method of the operation', (request, call) => {
    expect(typescriptCall(sampleOf('typescript', request, server))).toBe(call);
  });

  test('has a method for every operation', () => {
    for (const { verb, path, gives } of operations) {
      if (gives === 'stream') continue;
      const request = { method: verb, path: path.replace('/_api/', '').replaceAll(/\{\w+\}/g, 'id_1') };
      expect(typescriptCall(sampleOf('typescript', request, server)), path).toBeDefined();
    }
  });

  test('names the server unless it is the default one', () => {
    const request = readRequest('developer_api_status');
    expect(sampleOf('typescript', request, server)).toContain('new Sandbank()');
    expect(sampleOf('typescript', request, 'https://pay.test')).toContain(
      "new Sandbank({ baseUrl: 'https://pay.test' })",
    );
  });

  test.each([
    ['an unknown path', readRequest('developer_api_nothing')],
    ['a body that is not JSON', { method: 'POST', path: 'developer_api_payments', body: '{' } as const],
    ['a body that the operation does not take', postRequest('developer_api_clock/freeze', { a: 1 })],
    ['a query that the operation does not take', readRequest('developer_api_status', { a: '1' })],
  ])('cannot express %s, and curl can', (_, request) => {
    expect(sampleOf('typescript', request, server)).toBeUndefined();
    expect(sampleOf('curl', request, server)).toContain('developer_api_');
  });

  test('all numbers in the queries of the API are known', () => {
    const { paths } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
    const parameters = Object.values<Record<string, { parameters?: Parameter[] }>>(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => operation.parameters ?? []);
    const numbers = parameters.filter(
      ({ in: place, schema }) => place === 'query' && /integer|number|boolean/.test(schema.type ?? ''),
    );
    expect(new Set(numbers.map(({ name }) => name))).toEqual(numbersInQueries);
  });
});

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string };
}

test('no sample contains a key', () => {
  const request = postRequest('developer_api_payments', { amount: 1 });
  for (const language of ['curl', 'typescript', 'python'] as const) {
    expect(sampleOf(language, request, server)).not.toContain('sbk_');
  }
});
