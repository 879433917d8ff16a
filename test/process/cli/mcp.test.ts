import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationTools } from '../../../cli/mcp/tools.ts';
import { errorCatalogue as known } from '../../../src/kernel/errors.ts';
import { bin, type CommandWorld, openCommandWorld, spawnBinary } from '../../support/command.ts';
import { freePort } from '../../support/processes.ts';
import { openReceiver, withStatus } from '../../support/receiver.ts';
import { tenant } from '../../support/tenant.ts';

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

describe('sandbank mcp', () => {
  let world: CommandWorld;
  const open: Client[] = [];
  /** A client with all tools and a valid key. */
  let client: Client;
  beforeAll(async () => {
    world = await openCommandWorld();
    client = await connect();
  });
  afterAll(async () => {
    await Promise.all(open.map((one) => one.close()));
    await world?.close();
  });

  async function connect(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Client> {
    const connected = new Client({ name: 'a test', version: '1.0.0' });
    await connected.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bin, 'mcp', ...args],
        env: { PATH: process.env.PATH ?? '', ...world.env, ...env },
        stderr: 'ignore',
      }),
    );
    open.push(connected);
    return connected;
  }
  const callOf =
    (caller: Client) =>
    async (name: string, input: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
      const result = (await caller.callTool({ name, arguments: input })) as Result;
      expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
      expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
      return result.structuredContent as Record<string, unknown>;
    };

  test('offers every tool with a description and an input schema from the OpenAPI document', async () => {
    const { tools } = await client.listTools();
    const expected = operationTools.map(({ name }) => name);
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...expected, 'explain_error', 'list_scenarios'].toSorted(),
    );
    for (const { description, inputSchema } of tools) {
      expect(description?.length).toBeGreaterThan(20);
      expect(inputSchema.type).toBe('object');
      // Assistants reject a tool whose input schema is a union at the top level.
      for (const keyword of ['anyOf', 'oneOf', 'allOf']) expect(inputSchema).not.toHaveProperty(keyword);
    }
    const create = tools.find(({ name }) => name === 'create_payment');
    expect(create?.inputSchema).toMatchObject({
      required: ['amount', 'currency'],
      properties: { amount: { type: 'integer', minimum: 1 } },
    });
    for (const { name, outputSchema } of tools)
      if (expected.includes(name))
        expect(outputSchema, name).toMatchObject({ required: expect.arrayContaining(['object']) });
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    expect(destructive.map(({ name }) => name)).toEqual(['reset']);
    const advance = tools.find(({ name }) => name === 'advance_payment');
    expect(advance?.inputSchema).toMatchObject({ required: ['id'] });
    const { action } = (advance?.inputSchema.properties ?? {}) as { action?: { enum: string[] } };
    expect(action?.enum).toEqual(
      expect.arrayContaining(['authorize', 'capture', 'fail', 'refund', 'dispute']),
    );
  });

  test('an assistant creates, advances, refunds, advances the clock and reads the events', async () => {
    const call = callOf(client);
    const { id: customerId } = await call('create_customer', { name: 'Ada' });
    const payment = await call('create_payment', {
      amount: 1250,
      currency: 'EUR',
      customerId,
      scenario: 'approve',
    });
    expect(payment).toMatchObject({ object: 'payment', status: 'pending', customerId });
    const { id } = payment;
    expect(await call('advance_payment', { id, to: 'captured' })).toMatchObject({ status: 'captured' });
    expect(await call('refund_payment', { id, amount: 250 })).toMatchObject({
      object: 'refund',
      amount: 250,
    });
    expect(await call('get_payment', { id })).toMatchObject({ amountRefunded: 250 });
    expect(await call('list_payments', { limit: 1 })).toMatchObject({ data: [{ id }] });
    expect(await call('advance_clock', { seconds: 86_400 })).toMatchObject({ complete: true });
    // Whole seconds, and the clock is running.
    expect(Math.abs(Number((await call('get_clock')).offsetSeconds) - 86_400)).toBeLessThan(60);
    const events = (await call('list_events', { resourceId: id })) as {
      data: { id: string; type: string }[];
    };
    expect(events.data.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['payment.created', 'payment.captured']),
    );
    expect(await call('get_event', { id: events.data[0]?.id })).toMatchObject({ object: 'event' });
    expect(await call('trigger_event', { type: 'dispute.won' })).toMatchObject({ type: 'dispute.won' });
    const transfer = await call('create_transfer', {
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      sourceAmount: 10_000,
    });
    expect(
      await call('advance_transfer', { id: transfer.id, to: 'completed', beneficiary: { name: 'Grace' } }),
    ).toMatchObject({ status: 'completed' });
    expect(await call('get_balances', {})).toMatchObject({ object: 'balances' });
    expect(await call('list_requests', { limit: 5 })).toMatchObject({ object: 'list' });
    expect(await call('list_scenarios')).toMatchObject({ scenarios: expect.arrayContaining(['approve']) });
    expect(await call('read_state_machines')).toMatchObject({ object: 'state_machines' });
  });

  test('an assistant finds the reason of a webhook failure, tests the endpoint and examines its receiver', async () => {
    const call = callOf(client);
    const receiver = await openReceiver(withStatus(500));
    const { body } = await world.owner.client.post('developer_api_webhooks', {
      url: receiver.url,
      retryProfile: 'none',
    });
    expect(await call('list_webhooks')).toMatchObject({ data: [{ id: body.id, url: receiver.url }] });
    expect(await call('test_webhook', { id: body.id, type: 'payment.captured' })).toMatchObject({
      object: 'delivery',
      attempts: [{ responseStatus: 500 }],
    });
    const { data } = (await call('list_deliveries', { webhookId: body.id, status: 'failed' })) as {
      data: { id: string }[];
    };
    expect(await call('get_delivery', { id: data[0]?.id })).toMatchObject({
      eventType: 'payment.captured',
      attempts: [{ responseStatus: 500 }],
    });
    receiver.answer(withStatus(204));
    expect(await call('examine_webhook', { id: body.id, cases: ['wrong_signature'] })).toMatchObject({
      object: 'examination',
      status: 'failed',
    });
    await receiver.close();
  });

  test('reset deletes the records of the organization', async () => {
    const { key } = await tenant(world.server);
    const call = callOf(await connect([], { SANDBANK_API_KEY: key }));
    await call('create_payment', { amount: 100, currency: 'EUR' });
    expect(await call('reset')).toMatchObject({ object: 'reset', deleted: { payments: 1 } });
    expect(await call('list_payments')).toMatchObject({ data: [] });
  });

  test('an API error is a tool error with its code, the allowed actions and the request id', async () => {
    const { id } = await callOf(client)('create_payment', { amount: 100, currency: 'EUR' });
    const refused = (await client.callTool({ name: 'refund_payment', arguments: { id } })) as Result;
    expect(refused.isError).toBe(true);
    const [message = '', details = '{}'] = refused.content[0]?.text?.split('\n') ?? [];
    expect(message).toMatch(/\.$/);
    expect(JSON.parse(details)).toMatchObject({
      code: 'invalid_state_transition',
      status: 409,
      allowedActions: expect.any(Array),
      requestId: expect.stringMatching(/^req_/),
    });
    const wrong = (await client.callTool({
      name: 'create_payment',
      arguments: { amount: 'much', currency: 'EUR' },
    })) as Result;
    expect(wrong.isError).toBe(true);
  });

  test('explains every error code in the catalogue', async () => {
    const explained = await callOf(client)('explain_error', { code: 'idempotency_key_reused' });
    expect(explained).toMatchObject({
      code: 'idempotency_key_reused',
      status: 422,
      howToFixIt: expect.stringMatching(/\w/),
    });
    const { errors } = (await callOf(client)('explain_error')) as { errors: { code: string }[] };
    expect(errors.map(({ code }) => code).toSorted()).toEqual(Object.keys(known).toSorted());
    const unknown = (await client.callTool({ name: 'explain_error', arguments: { code: 'nope' } })) as Result;
    expect(unknown).toMatchObject({ isError: true });
  });

  test('with --read-only offers only tools that read', async () => {
    const { tools } = await (await connect(['--read-only'])).listTools();
    expect(tools.length).toBeGreaterThan(8);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(tools.map(({ name }) => name)).not.toContain('create_payment');
  });

  test('serves the documents of the server as resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['sandbank://llms.txt', 'sandbank://openapi.json']);
    const { contents } = await client.readResource({ uri: 'sandbank://openapi.json' });
    expect(JSON.parse(String((contents[0] as { text?: string }).text))).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
    });
  });

  test('starts without a key or a server, and its tools report the missing one', async () => {
    const [keyless, away] = await Promise.all([
      connect([], { SANDBANK_API_KEY: '' }),
      connect([], { SANDBANK_URL: `http://127.0.0.1:${await freePort()}` }),
    ]);
    expect(await keyless.callTool({ name: 'get_clock', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/There is no API key/) }],
    });
    expect(await away.callTool({ name: 'get_clock', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/ECONNREFUSED/) }],
    });
  });

  test('writes nothing but the protocol to stdout, and ends when its input does', async () => {
    const child = spawnBinary(['mcp'], { env: world.env });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([{ jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'sandbank' } } }]);
  });
});
