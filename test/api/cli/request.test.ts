import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { freePort } from '../../support/processes.ts';

interface JsonOutput {
  readonly id: string;
  readonly [field: string]: unknown;
}

describe('sandbank get and post', () => {
  let world: CommandWorld;
  let folder: string;
  beforeAll(async () => {
    world = await openCommandWorld();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-request-'));
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const result = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.sandbank(...args);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as JsonOutput;
  };

  test('builds a body from fields, JSON, a file and standard input, in that order', async () => {
    const file = join(folder, 'payment.json');
    writeFileSync(file, JSON.stringify({ amount: 1, currency: 'EUR', description: 'from a file' }));
    const args = ['-d', `@${file}`, '-d', '{"amount": 2}', '-d', 'amount=1250'];
    const created = await result(
      'post',
      'payments',
      ...args,
      '-d',
      'metadata.order=A7',
      '-d',
      'reference="42"',
    );
    expect(created).toMatchObject({
      object: 'payment',
      amount: 1250,
      currency: 'EUR',
      description: 'from a file',
      reference: '42',
      metadata: { order: 'A7' },
    });
    const piped = await run(['post', 'customers', '-d', '-', '--json'], {
      env: world.env,
      input: '{"name":"Ada"}',
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({ object: 'customer', name: 'Ada' });
    expect(await result('post', `payments/${created.id}/advance`)).toMatchObject({ status: 'captured' });
  });

  test.each([
    'payments',
    'developer_api_payments',
    '/developer_api_payments',
    '/_api/developer_api_payments',
  ])('accepts the path %s, with query parameters in the path or in flags', async (path) => {
    const page = await result('get', `${path}?limit=1`, '--query', 'status=captured');
    expect(page).toMatchObject({ object: 'list', data: [{ object: 'payment', status: 'captured' }] });
  });

  test('sends an idempotency key and headers, and prints a non-JSON response unchanged', async () => {
    const args = ['post', 'customers', '-d', 'name=Grace', '--idempotency-key', 'order-42'];
    expect((await result(...args)).id).toBe((await result(...args)).id);
    const { data } = await world.json<{ data: { date: string }[] }>(['settlements', 'list']);
    expect(data).toEqual([]);
    const { id } = await result('post', 'payments', '-d', 'amount=100', '-d', 'currency=EUR');
    await result('post', `payments/${id}/advance`, '-d', 'to=settled');
    const list = await world.json<{ data: { date: string }[] }>(['settlements', 'list']);
    const date = list.data[0]?.date ?? '';
    const csv = await world.sandbank('get', `settlements/${date}`, '--header', 'Accept: text/csv');
    expect([csv.code, csv.stdout]).toEqual([0, expect.stringMatching(/^\w+(,\w+)+\r?\n/)]);
    expect((await world.sandbank('settlements', 'get', date, '--csv')).stdout).toBe(csv.stdout);
  });

  test('prints an error response as JSON on stdout, with the usual exit code', async () => {
    const refused = await world.sandbank('post', 'payments', '-d', 'amount=-1', '-d', 'currency=EUR');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/\(invalid_request, 400\)/);
    expect(JSON.parse(refused.stdout)).toMatchObject({ object: 'error', error: { param: '/amount' } });
    expect((await world.sandbank('get', 'payments/pay_1', '--json')).stdout).toMatch(
      /^\{"object":"error".*\}\n$/,
    );
    const url = `http://127.0.0.1:${await freePort()}`;
    const unreachable = await run(['get', 'payments'], { env: { ...world.env, SANDBANK_URL: url } });
    expect(unreachable.code).toBe(3);
    expect((await run(['get', 'payments'], { env: { SANDBANK_URL: world.url } })).code).toBe(4);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['a mistyped path', ['get', 'paymnets'], /Did you mean payments\?/],
    [
      'a mistyped action',
      ['post', 'payments/pay_01h2xcejqtf2nbrexx3vqjhp41/advnace'],
      /Did you mean payments\/\{id\}\/advance\?/,
    ],
    [
      'a GET for a write operation',
      ['get', 'payments/pay_01h2xcejqtf2nbrexx3vqjhp41/refund'],
      /Use "sandbank post payments\/pay_\w+\/refund" instead\./,
    ],
  ])('1: suggests the nearest operation for %s', async (_name, args, message) => {
    const { code, stderr } = await world.sandbank(...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['data without a name', ['post', 'payments', '-d', '1250'], /--data must be name=value/],
    ['a list', ['post', 'payments', '-d', '[1]'], /--data must be name=value/],
    ['a header without a value', ['get', 'payments', '--header', 'Accept'], /'Accept: text\/csv'/],
    ['a path outside the API', ['get', 'payments/../../readyz'], /is not an API path/],
    ['another host', ['get', 'http://example.test/'], /is not an API path/],
    ['a stream', ['get', 'webhook_events/stream'], /events tail --follow/],
  ])('2: %s', async (_name, args, message) => {
    const { code, stdout, stderr } = await world.sandbank(...args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
  });

  test('2: a file above the maximum body size', async () => {
    const file = join(folder, 'large.json');
    writeFileSync(file, Buffer.alloc(2 ** 20 + 1, ' '));
    const { code, stderr } = await world.sandbank('post', 'payments', '-d', `@${file}`);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is larger than 1048576 bytes/)]);
  });
});
