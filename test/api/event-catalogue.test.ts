import { Type } from 'typebox';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';
import { compileBody } from '../../src/http/validate.ts';
import type { AnyResource } from '../../src/kernel/command.ts';
import { type EventType, payloadSchema } from '../../src/kernel/event.ts';
import { emittedEvents, eventTypes } from '../../src/kernel/machine.ts';
import { catalogueOf } from '../../src/resources/events/catalogue.ts';
import { eventCatalogue, resources, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const eventResources = resources.filter(({ emitsEvents }) => emitsEvents);
const types = eventResources.flatMap(({ machine }) => eventTypes(machine));

function catalogueEntry(type: string): EventType {
  const found = eventCatalogue.find((one) => one.type === type);
  if (!found) throw new Error(`${type} is not in the catalogue`);
  return found;
}

/** The possible target states of the transitions that emit this event type. */
function arrivals(type: string): readonly string[] {
  const [name, event = ''] = type.split('.');
  const moves = eventResources.find((one) => one.name === name)?.machine.moves ?? [];
  const arriving = moves.filter((move) => emittedEvents(move).includes(event));
  return arriving.flatMap(({ to, event: named }) => (named === undefined ? [event] : to));
}

test('the catalogue has every event type of the machines, once and in their order', () => {
  expect(eventCatalogue.map(({ type }) => type)).toEqual(types);
  expect(new Set(types).size).toBe(types.length);
  expect(types).toEqual(expect.arrayContaining(['payment.captured', 'transfer.returned', 'webhook.tested']));
  expect(types).not.toContain('webhook.created');
});

/** One validator per resource for all its types: the test compares the type separately, and compiling is slow. */
const envelopes = new Map<unknown, ReturnType<typeof compileBody>>();
function envelopeOf(schema: EventType['schema']): ReturnType<typeof compileBody> {
  const check = envelopes.get(schema) ?? compileBody(payloadSchema(types, schema));
  envelopes.set(schema, check);
  return check;
}

describe.each(eventCatalogue)('$type', ({ type, resource, description, example, payload, schema }) => {
  test('has a description of one sentence, unique in the catalogue', () => {
    expect(description).toMatch(/^[A-Z][^.]{15,}\.$/);
    expect(eventCatalogue.filter((one) => one.description === description)).toHaveLength(1);
  });

  test('has an example record of its resource, in a state that emits the type', () => {
    expect(type.split('.')[0]).toBe(resource);
    expect(example).toMatchObject({ object: resource, sandbox: true });
    expect(arrivals(type)).toContain(example.status);
  });

  test('has an example that matches the schema, and the schema rejects others', () => {
    const check = compileBody(schema);
    expect(check(example)).toBeUndefined();
    expect(check({ ...example, status: 'nowhere' })).toBeDefined();
    const { version: _version, ...rest } = example;
    expect(check(rest)).toBeDefined();
  });

  test("has a payload in the event envelope, with the record's time and version", () => {
    expect(envelopeOf(schema)(payload)).toBeUndefined();
    expect(payload).toMatchObject({ type, data: example, sequence: example.version });
    expect(Object.keys(payload)).toEqual([
      'object',
      'id',
      'sandbox',
      'requestId',
      'status',
      'type',
      'apiVersion',
      'timestamp',
      'sequence',
      'data',
    ]);
    if (type !== 'webhook.tested') expect(payload.timestamp).toBe(example.updatedAt);
    expect(String(payload.timestamp) >= String(example.createdAt)).toBe(true);
  });
});

test('no two examples share an event id, and none contains a secret', () => {
  expect(new Set(eventCatalogue.map(({ payload }) => payload.id)).size).toBe(types.length);
  expect(JSON.stringify(eventCatalogue.map(({ payload }) => payload))).not.toContain('whsec_');
});

const amount = 12_500;
test.each([
  ['payment.created', { amountCaptured: 0, allowedActions: expect.arrayContaining(['authorize']) }],
  ['payment.requires_action', { scenario: 'require_action' }],
  ['payment.processing', { scenario: 'async', paymentMethod: { type: 'bank_debit' } }],
  ['payment.authorized', { amountCapturable: amount, authorizationExpiresAt: '2026-11-23T09:00:01.000Z' }],
  ['payment.captured', { amount, amountCaptured: amount, amountCapturable: 0, failure: null }],
  ['payment.partially_captured', { amountCaptured: 5_000, amountCapturable: 7_500 }],
  ['payment.settled', { reconciliation: 'matched', settledAt: expect.any(String) }],
  ['payment.failed', { failure: { code: 'insufficient_funds', retryable: true }, allowedActions: ['retry'] }],
  ['payment.pending', { failure: null, attempts: [{ number: 1 }, { number: 2, failure: null }] }],
  ['payment.canceled', { canceledAt: expect.any(String), amountCaptured: 0 }],
  ['payment.expired', { expiredAt: '2026-11-23T09:00:01.000Z', amountCapturable: 0 }],
  ['payment.partially_refunded', { amountRefunded: 5_000, amountRefundable: 7_500 }],
  ['payment.refunded', { amountRefunded: amount, amountRefundable: 0 }],
  ['payment.disputed', { amountDisputed: amount, disputeId: expect.stringMatching(/^dsp_/) }],
  ['payment.updated', { status: 'captured', amountRefunded: 0, amountRefundable: 7_500 }],
  ['payment.charged_back', { amountDisputed: amount, chargedBackAt: expect.any(String) }],
  ['refund.created', { status: 'pending', endedAt: null, amount: 5_000 }],
  ['refund.succeeded', { endedAt: expect.any(String) }],
  ['refund.failed', { endedAt: expect.any(String), allowedActions: [] }],
  ['refund.canceled', { endedAt: expect.any(String) }],
  ['dispute.created', { stage: 'chargeback', evidence: null, closedAt: null }],
  ['dispute.under_review', { evidence: { tracking: expect.any(String) } }],
  ['dispute.needs_response', { stage: 'pre_arbitration' }],
  ['dispute.won', { closedAt: expect.any(String) }],
  ['dispute.lost', { closedAt: expect.any(String), evidence: { tracking: expect.any(String) } }],
  [
    'transfer.quoted',
    { rate: expect.stringMatching(/^1\.\d+$/), marginBasisPoints: 50, totalAmount: 100_500 },
  ],
  ['transfer.accepted', { fundingExpiresAt: expect.any(String), beneficiary: { name: expect.any(String) } }],
  ['transfer.in_review', { reviewedAt: expect.any(String) }],
  ['transfer.failed', { failure: { code: 'compliance_rejected' } }],
  ['transfer.completed', { reconciliation: 'matched', completedAt: expect.any(String) }],
  ['transfer.returned', { returnCode: 'account_closed', returnedAt: expect.any(String) }],
  ['transfer.refunded', { returnCode: 'account_closed', refundedAt: expect.any(String) }],
  ['transfer.expired', { expiredAt: '2026-11-16T09:30:00.000Z' }],
  ['customer.updated', { version: 2, phone: expect.any(String) }],
  ['customer.archived', { version: 3, allowedActions: [] }],
  ['webhook.disabled', { disabledReason: 'gone' }],
  ['webhook.tested', { status: 'enabled', disabledReason: null }],
])('the example of %s has the fields that matter', (type, shown) => {
  expect(catalogueEntry(type).example).toMatchObject(shown);
});

describe('the catalogue is derived from the machines', () => {
  const changed = (name: string, patch: (resource: AnyResource) => Partial<AnyResource>) =>
    resources.map((one) => (one.name === name ? { ...one, ...patch(one) } : one));

  test('deriving it twice gives the same result', () => {
    expect(JSON.stringify(catalogueOf(resources))).toBe(JSON.stringify(eventCatalogue));
  });

  test('an event type without an example run fails at startup', () => {
    const more = changed('refund', ({ machine }) => ({
      machine: { ...machine, moves: [...machine.moves, { action: 'lose', from: [], to: ['lost'] }] },
    }));
    expect(() => catalogueOf(more)).toThrow('no example emits refund.lost');
  });

  test('an event type without a description, or a resource without a schema, fails at startup', () => {
    const withoutDescriptions = changed('refund', ({ machine }) => ({
      machine: { ...machine, eventDescriptions: {} },
    }));
    expect(() => catalogueOf(withoutDescriptions)).toThrow('refund.created has no description');
    const { schema: _schema, ...withoutSchema } = resources.find(
      ({ name }) => name === 'refund',
    ) as AnyResource;
    const changedResources = resources.map((one) => (one.name === 'refund' ? withoutSchema : one));
    expect(() => catalogueOf(changedResources)).toThrow('the events of refund have no schema');
  });
});

describe('in the OpenAPI document', () => {
  const document = openApiDocument(routes, eventCatalogue, 'http://127.0.0.1:4000') as {
    webhooks: Record<string, { post: Record<string, unknown> }>;
    components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  };

  test('the webhooks section has every type and nothing else', () => {
    expect(Object.keys(document.webhooks)).toEqual(types);
  });

  test.each(eventCatalogue)(
    '$type is described by its resource',
    ({ type, resource, description, payload }) => {
      const name = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`;
      expect(document.webhooks[type]?.post).toMatchObject({
        description,
        security: [],
        parameters: ['Id', 'Timestamp', 'Signature'].map((header) => ({
          $ref: `#/components/parameters/Webhook${header}`,
        })),
        requestBody: {
          content: {
            'application/json': {
              schema: {
                allOf: [
                  { $ref: `#/components/schemas/${name}Event` },
                  { properties: { type: { const: type } } },
                ],
              },
              example: payload,
            },
          },
        },
      });
      expect(document.components.schemas[`${name}Event`]?.properties).toMatchObject({
        type: { enum: types.filter((one) => one.startsWith(`${resource}.`)) },
        data: { $ref: `#/components/schemas/${name}` },
      });
    },
  );
});

describe.each(databaseKinds)('served on %s', (kind) => {
  let server: Server;
  let acme: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
  });

  test('capabilities returns every type with description and example payload, and a schema for each resource', async () => {
    const { body } = await acme.client.get('developer_api_capabilities');
    expect(body.eventTypes).toEqual(types);
    const asServed = eventCatalogue.map(({ type, resource, description, payload }) => ({
      type,
      resource,
      description,
      example: payload,
    }));
    expect(body.events).toEqual(asServed);
    const schemas = body.eventSchemas as Record<string, object>;
    expect(Object.keys(schemas)).toEqual(eventResources.map(({ name }) => name));
    for (const [name, schema] of Object.entries(schemas)) {
      const check = compileBody(Type.Unsafe(schema));
      expect(check({}), name).toBeDefined();
      for (const { resource, example, type } of eventCatalogue)
        if (resource === name) expect(check(example), type).toBeUndefined();
    }
  });

  test('an emitted event has the same fields as the example', async () => {
    await acme.client.post('developer_api_payments', { amount: 1_000, currency: 'EUR' });
    const { body } = await acme.client.get('developer_api_webhook_events', 'type=payment.created');
    const data = body.data[0]?.data as unknown as object;
    expect(Object.keys(data)).toEqual(Object.keys(catalogueEntry('payment.created').example));
  });

  test('an event created through the API has the example data, unless the request contains data', async () => {
    const { status, body } = await acme.client.post('developer_api_webhook_events', {
      type: 'payment.captured',
    });
    expect(status).toBe(201);
    const { example } = catalogueEntry('payment.captured');
    expect(body).toMatchObject({ type: 'payment.captured', resourceId: example.id });
    expect(body.data).toEqual(example);
  });

  test('the events page lists every type with its description, and llms.txt links to it', async () => {
    const page = await server.app.inject('/docs/events');
    expect(page.statusCode).toBe(200);
    for (const type of types) expect(page.body).toContain(`<td><code>${type}</code></td>`);
    expect(page.body).toContain('The money has reached the beneficiary.');
    expect((await server.app.inject('/llms.txt')).body).toContain('/docs/events.md');
    expect((await server.app.inject('/docs')).body).toContain('href="/docs/events"');
  });
});
