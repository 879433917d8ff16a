// Every operation of the OpenAPI document can be called through the client, and reaches its route on a real server.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../scripts/sdk/document.ts';
import { type Sandbank, SandbankError } from '../../sdk/client.ts';
import { apiVersion, operations } from '../../sdk/generated/operations.ts';
import type { Operation } from '../../sdk/operation.ts';
import { streamPath } from '../../sdk/stream.ts';
import { databaseKinds } from '../support/server.ts';
import { recorder } from './recorder.ts';
import { openWorld, type World } from './world.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;
const callable = operations.filter(({ gives }) => gives !== 'stream');
const nameOf = ({ namespace, method }: Operation) => [namespace, method].filter(Boolean).join('.');

type Callable = (...args: unknown[]) => PromiseLike<unknown>;

function methodOf(client: object, { namespace, method }: Operation): Callable {
  const holder = namespace === undefined ? client : (client as Record<string, object>)[namespace];
  return (holder as Record<string, Callable>)[method] as Callable;
}

test('every operation of the document is a method', () => {
  const inDocument = Object.values(document.paths).flatMap((verbs) =>
    Object.values(verbs).map(({ operationId }) => operationId),
  );
  expect([...new Set(operations.map(({ id }) => id))].sort()).toEqual(inDocument.sort());
  expect(new Set(operations.map(nameOf)).size).toBe(operations.length);
});

test('the only stream of the document is the hand-written events.stream', () => {
  for (const one of operations.filter(({ gives }) => gives === 'stream')) {
    expect([nameOf(one), one.path]).toEqual(['events.stream', streamPath]);
  }
});

test('the documented methods have stable names', () => {
  const names = new Set(operations.map(nameOf));
  for (const name of `payments.create payments.retrieve payments.list payments.advance payments.update payments.refund payments.history
    payments.ledgerEntries payments.providerEvents customers.create customers.list customers.retrieve customers.update
    customers.archive transfers.create transfers.list transfers.retrieve transfers.advance transfers.history
    transfers.ledgerEntries transfers.providerEvents refunds.list refunds.retrieve refunds.advance disputes.list
    disputes.retrieve disputes.advance webhooks.create webhooks.list webhooks.retrieve webhooks.update webhooks.rotateSecret
    webhooks.disable webhooks.enable webhooks.test events.create events.list events.retrieve events.replay deliveries.list
    deliveries.retrieve deliveries.replay replays.list replays.retrieve clock.retrieve clock.advance clock.freeze clock.reset
    ledger.balances ledger.entries settlements.list settlements.retrieve settlements.csv reconciliation.retrieve fxRates.list
    status capabilities stateMachines`.split(/\s+/))
    expect(names, name).toContain(name);
});

describe.each(databaseKinds)('on %s', (kind) => {
  const { fetch, sent } = recorder();
  let world: World;
  let sandbank: Sandbank;
  beforeAll(async () => {
    world = await openWorld(kind);
    ({ sandbank } = await world.client({ fetch }));
  });
  beforeEach(() => {
    sent.length = 0;
  });
  afterAll(() => world?.close());

  test.each(callable.map((operation) => [nameOf(operation), operation] as const))(
    '%s reaches its route',
    async (_name, operation) => {
      const { names, takes, verb, path, accept } = operation;
      const ids = names.map((name) => (name === 'date' ? '2026-11-15' : 'none_such'));
      const args = takes === undefined ? ids : [...ids, {}];
      const outcome = await Promise.resolve(methodOf(sandbank, operation)(...args)).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof SandbankError)
        expect(['invalid_request', 'resource_not_found'], outcome.message).toContain(outcome.code);
      else expect(outcome).toBeTypeOf(operation.gives === 'text' ? 'string' : 'object');
      expect(sent).toHaveLength(1);
      const [request] = sent;
      expect(request?.method).toBe(verb);
      expect(request?.path).toBe(
        names.reduce((text, name, at) => text.replace(`{${name}}`, ids[at] ?? ''), path),
      );
      expect(request?.headers.get('accept')).toBe(accept);
      expect(request?.headers.get('api-version')).toBe(apiVersion);
      expect(request?.headers.has('idempotency-key')).toBe(verb === 'POST');
    },
  );

  test('a settlement report is JSON or CSV, depending on the method', async () => {
    const { id } = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
    await sandbank.payments.advance(id, { to: 'settled' });
    const { data } = await sandbank.settlements.list();
    const day = data[0]?.date ?? '';
    const report = await sandbank.settlements.retrieve(day);
    expect(report).toMatchObject({ object: 'settlement', lines: 1 });
    const csv = await sandbank.settlements.csv(day);
    expect(csv.split('\n').length).toBeGreaterThan(1);
    expect(csv).toContain(report.data[0]?.providerTransactionId);
  });

  test.each(['', '.', '..', undefined])('an id of %j is rejected before a request is sent', async (id) => {
    await expect(sandbank.payments.retrieve(id as string)).rejects.toThrow(/payments\.retrieve needs the id/);
    await expect(sandbank.payments.history(id as string)).rejects.toThrow(/payments\.history needs the id/);
    expect(sent).toEqual([]);
  });

  test('an id cannot reach another route', async () => {
    await expect(sandbank.payments.retrieve('../developer_api_status')).rejects.toMatchObject({
      code: 'resource_not_found',
    });
  });
});
