import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { idsOfRequest } from '../../src/telemetry/trace-ids.ts';
import { openCollector, type SeenSpan } from '../support/collector.ts';
import { createDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { API_KEY, type Folder, PAYMENTS, temporaryFolder } from './support/client.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const callerTrace = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';

/** Two nodes on one database, one for requests and one for deliveries, both with an OTLP collector. */
describe('telemetry of two processes', () => {
  let folder: Folder;
  let collector: Awaited<ReturnType<typeof openCollector>>;
  let receiver: Receiver;
  let spans: readonly SeenSpan[];
  const logs: Record<string, string> = {};
  const requestIds = { own: '', called: '' };

  beforeAll(async () => {
    folder = temporaryFolder();
    collector = await openCollector();
    receiver = await openReceiver();
    const seed = path.join(folder.path, 'hooked.json');
    const apiKeys = [{ name: 'ci', key: API_KEY, scopes: ['payments:read', 'payments:write'] }];
    const webhooks = [{ url: receiver.url, secret, eventTypes: ['*'], retryProfile: 'fast' }];
    const applications = [{ name: 'web', apiKeys, webhooks }];
    writeFileSync(seed, JSON.stringify({ organizations: [{ name: 'Acme', applications }] }));
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      SANDBANK_PRIVATE_WEBHOOKS: 'on',
      LOG_LEVEL: 'debug',
    };
    const nodes: Record<string, ServerProcess> = {};
    nodes.api = await startServer({ databaseUrl, seed, args: ['--role', 'api'], env });
    nodes.worker = await startServer({ databaseUrl, args: ['--role', 'worker'], env });
    const create = async (key: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(nodes.api?.url + PAYMENTS, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          ...headers,
        },
        body: JSON.stringify({ amount: 1250, currency: 'EUR', reference: 'very-private' }),
      });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { requestId: string }).requestId;
    };
    requestIds.own = await create('one');
    requestIds.called = await create('two', { traceparent: `00-${callerTrace}-${callerSpan}-01` });
    await receiver.waitFor(2);
    const read = { headers: { authorization: `Bearer ${API_KEY}` } };
    expect((await fetch(`${nodes.api.url}${PAYMENTS}?limit=0&reference=very-private`, read)).status).toBe(
      400,
    );
    expect((await fetch(`${nodes.api.url}${PAYMENTS}?status=pending`, read)).status).toBe(200);
    expect((await fetch(`${nodes.api.url}/readyz`)).status).toBe(200);
    for (const [role, node] of Object.entries(nodes)) {
      // A node exports its buffered spans before it exits.
      expect(await node.stop()).toBe(0);
      logs[role] = node.logs();
    }
    spans = collector.spans();
  });
  afterAll(async () => {
    await collector.close();
    await receiver.close();
    folder.remove();
  });

  const of = (requestId: string) => spans.filter(({ fields }) => fields['sandbank.request_id'] === requestId);
  const childrenOf = (parent: SeenSpan | undefined) =>
    spans.filter(({ parentSpanId }) => parent !== undefined && parentSpanId === parent.spanId);
  const named = (list: readonly SeenSpan[], name: string) => list.find((span) => span.name === name);

  it('exports a create and its delivery as one trace over both nodes', () => {
    const ids = idsOfRequest(requestIds.own);
    const server = named(of(requestIds.own), 'POST /_api/developer_api_payments');
    expect(server).toMatchObject({ ...ids, kind: 2, role: 'api', status: 0 });
    expect(server?.parentSpanId).toBeUndefined();
    expect(server?.fields).toMatchObject({
      'http.route': '/_api/developer_api_payments',
      'http.response.status_code': 201,
      'http.request.method': 'POST',
    });
    const command = named(childrenOf(server), 'command payments.create');
    expect(command?.fields['sandbank.outcome']).toBe('accepted');
    const batch = named(childrenOf(command), 'batch');
    expect(named(childrenOf(command), 'wait')).toBeDefined();
    expect(batch?.fields['sandbank.batch_size']).toBe(1);
    const write = named(childrenOf(batch), 'database write_batch');
    expect(write?.fields).toMatchObject({ 'db.system.name': 'postgresql' });
    const delivery = named(childrenOf(server), 'deliver payment.created');
    expect(delivery).toMatchObject({ kind: 3, role: 'worker', traceId: ids.traceId });
    expect(delivery?.fields).toMatchObject({ 'http.response.status_code': 204, 'sandbank.attempt': 1 });
    const sent = receiver.received.map(({ headers }) => headers.traceparent);
    expect(sent).toContain(`00-${ids.traceId}-${delivery?.spanId}-01`);
  });

  it('continues the trace of a caller and links it to the delivery', () => {
    const server = named(of(requestIds.called), 'POST /_api/developer_api_payments');
    expect(server).toMatchObject({ traceId: callerTrace, parentSpanId: callerSpan });
    const own = idsOfRequest(requestIds.called);
    expect(server?.links).toMatchObject([own]);
    expect(named(of(requestIds.called), 'deliver payment.created')).toMatchObject({
      traceId: own.traceId,
      parentSpanId: own.spanId,
    });
  });

  it('exports reads with their statement and errors with their code, but no health checks or worker polls', () => {
    const reads = spans.filter(({ name }) => name === 'GET /_api/developer_api_payments');
    expect(reads.map(({ fields }) => fields['http.response.status_code'])).toEqual([400, 200]);
    expect(reads[0]?.fields['sandbank.error_code']).toBe('invalid_request');
    expect(childrenOf(reads[1]).map(({ name }) => name)).toContain('database payments_page');
    expect(spans.filter(({ name }) => /readyz|claim|due_endpoints|due_applications/.test(name))).toEqual([]);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
  });

  it('contains no secret and no request body, in spans and logs', () => {
    const all = `${collector.text()}\n${logs.api}\n${logs.worker}`;
    for (const hidden of [API_KEY, secret, 'very-private', 'Bearer']) expect(all).not.toContain(hidden);
  });

  it('logs one JSON object per line: the start, each request at debug, and the reason and duration of the stop', () => {
    for (const [role, text] of Object.entries(logs)) {
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      for (const line of lines) {
        expect(line).toMatchObject({ level: expect.stringMatching(/^[a-z]+$/), msg: expect.any(String) });
        expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      }
      const lineWith = (msg: string) => lines.find((line) => line.msg === msg);
      expect(lineWith('started')).toMatchObject({ version: expect.any(String), role, database: 'postgres' });
      expect(lineWith('stopped')).toMatchObject({ signal: 'SIGTERM', durationMs: expect.any(Number) });
      if (role === 'api') {
        expect(lineWith('started')?.migrations).toContain('1 write_path');
        const request = lines.find(({ requestId }) => requestId === requestIds.own);
        expect(request).toMatchObject({ method: 'POST', status: 201, route: '/_api/developer_api_payments' });
      } else expect(lineWith('started')?.migrations).toEqual([]);
    }
  });
});
