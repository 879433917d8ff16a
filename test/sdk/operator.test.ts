import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Operator } from '../../sdk/client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';

/** Operator routes: the requests that the client sends, captured by a real server. */
describe('the operator client', () => {
  let receiver: Receiver;
  let operator: Operator;
  beforeAll(async () => {
    receiver = await openReceiver((request, response, count) => {
      const isText = /jsonl|xml/.test(String(request.headers.accept));
      const isFirst = !request.path.includes('cursor=');
      const list = { data: [{ id: `org_${count}` }], hasMore: isFirst, nextCursor: isFirst ? 'c1' : null };
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(isText ? '{"format":"sandbank-snapshot"}\n' : JSON.stringify({ object: 'x', ...list }));
    });
    operator = new Operator({ url: `http://127.0.0.1:${receiver.port}`, token: 't'.repeat(32) });
  });
  beforeEach(() => {
    (receiver.received as unknown[]).length = 0;
  });
  afterAll(() => receiver.close());

  const stream = () => new Blob(['{"a":1}\n']).stream() as ReadableStream<Uint8Array>;
  test.each<[string, (operator: Operator) => PromiseLike<unknown>, string, string]>([
    [
      'organizations.create',
      (one) => one.organizations.create({ name: 'a', scopes: ['payments:read'] }),
      'POST /_operator/organizations',
      '{"name":"a","scopes":["payments:read"]}',
    ],
    [
      'organizations.list',
      (one) => one.organizations.list({ limit: 1 }),
      'GET /_operator/organizations?limit=1',
      '',
    ],
    [
      'keys.create',
      (one) => one.keys.create('org_1', { name: 'ci' }),
      'POST /_operator/organizations/org_1/keys',
      '{"name":"ci"}',
    ],
    ['reset', (one) => one.reset('org_1'), 'POST /_operator/organizations/org_1/reset', ''],
    [
      'snapshot',
      (one) => one.snapshot('org_1'),
      'GET /_operator/organizations/org_1/snapshot?secrets=false',
      '',
    ],
    [
      'snapshot with secrets',
      (one) => one.snapshot('org_1', { secrets: true }),
      'GET /_operator/organizations/org_1/snapshot?secrets=true',
      '',
    ],
    ['importSnapshot', (one) => one.importSnapshot('{"a":1}\n'), 'POST /_operator/snapshots', '{"a":1}\n'],
    [
      'importSnapshot from a stream',
      (one) => one.importSnapshot(stream(), { fork: true, name: 'b c' }),
      'POST /_operator/snapshots?fork=true&name=b%20c',
      '{"a":1}\n',
    ],
    [
      'fork',
      (one) => one.fork('org_1', { name: 'b' }),
      'POST /_operator/organizations/org_1/fork',
      '{"name":"b"}',
    ],
    ['coverage', (one) => one.coverage(), 'GET /_operator/coverage', ''],
    [
      'coverage for some organizations',
      (one) => one.coverage({ organizationIds: ['org_1', 'org_2'] }),
      'GET /_operator/coverage?organizationId=org_1&organizationId=org_2',
      '',
    ],
    ['junit', (one) => one.junit(), 'GET /_operator/coverage', ''],
  ])('%s', async (_name, call, line, body) => {
    await call(operator);
    const [request] = receiver.received;
    expect(`${request?.method} ${request?.path}`).toBe(line);
    expect(request?.body).toBe(body);
    expect(request?.headers.authorization).toBe(`Bearer ${'t'.repeat(32)}`);
    expect(request?.headers).not.toHaveProperty('idempotency-key');
    const isSnapshot = line.startsWith('POST /_operator/snapshots');
    if (body !== '')
      expect(request?.headers['content-type']).toBe(isSnapshot ? 'application/jsonl' : 'application/json');
  });

  test('iterates over all organizations', async () => {
    expect(await operator.organizations.list().toArray()).toHaveLength(2);
  });

  test('streams a snapshot', async () => {
    const snapshot = await operator.snapshotStream('org_1');
    expect(await new Response(snapshot).text()).toBe('{"format":"sandbank-snapshot"}\n');
  });

  test('throws in the constructor without a token, and rejects an invalid id', () => {
    expect(() => new Operator({ url: 'http://127.0.0.1:1' })).toThrow(/SANDBANK_OPERATOR_TOKEN/);
    expect(() => operator.reset('org_1/../x')).toThrow('org_1/../x is not an organization id.');
  });
});
