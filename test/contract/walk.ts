import type { FastifyInstance } from 'fastify';
import { expect, vi } from 'vitest';
import { applySeed } from '../../src/admin/seed.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import { routes } from '../../src/resources/index.ts';
import { ApiClient, type Body } from '../support/api-client.ts';
import { openReceiver } from '../support/receiver.ts';
import { openApp, openServer } from '../support/server.ts';
import { newKey } from '../support/tenant.ts';
import { stable } from './stable.ts';

/** Request and response of an operation. */
export interface Exchange {
  readonly request?: unknown;
  readonly response: unknown;
}

/** Start time of the examples. Requests are one second apart. */
const start = Date.parse('2026-11-15T09:30:00.000Z');

/**
 * Calls every operation once with realistic data on a real server and returns the exchanges. Random values (ids, secrets, ports) are
 * replaced by fixed ones, so that the examples change only when the responses do.
 */
export async function runExamples(): Promise<Readonly<Record<string, Exchange>>> {
  // No workers: they use real time, and the examples use a fixed time.
  const server = await openServer('pglite', { role: 'api' });
  const receiver = await openReceiver();
  let now = start;
  const from = Date.now();
  const app = openApp(server, { wallClock: () => now });
  try {
    const key = newKey();
    const apiKeys = [{ name: 'server', key, scopes: [...scopes], mayReset: true }];
    const applications = [{ name: 'web', apiKeys }];
    await applySeed({ organizations: [{ name: 'Acme', applications }] }, server, () => now);
    const exchanges: Record<string, Exchange> = {};
    const call = caller(app, key, exchanges, () => {
      now += 1_000;
    });
    // Requests to a receiver are sent in real time.
    const callNow = caller(server.app, key, exchanges, () => undefined);
    /**
     * Resolves when all due deliveries were sent; the examples do not show it. A delivery that is sent during a clock advance carries
     * the clock's time, an earlier one carries the real time. So no delivery may be pending when the advance starts.
     */
    const settle = async () => {
      const client = new ApiClient(app, key);
      await vi.waitFor(async () => {
        const { body } = await client.get('developer_api_webhook_deliveries', 'status=pending&limit=1');
        expect(body.data).toEqual([]);
      });
      await client.post('developer_api_clock/advance', { seconds: 1 });
    };
    await callAll(call, callNow, settle, receiver.url);
    const order = routes
      .map(({ operationId }) => operationId)
      .filter((name) => exchanges[name] !== undefined);
    const sorted = order.map((name) => [name, exchanges[name] as Exchange] as const);
    return stable(Object.fromEntries(sorted), receiver.url, { from, to: Date.now() }) as Record<
      string,
      Exchange
    >;
  } finally {
    await app.close();
    await receiver.close();
    await server.close();
  }
}

type Call = (operationId: string, params?: Readonly<Record<string, string>>, body?: unknown) => Promise<Body>;

/** These responses have dozens of pages, so the examples show two items of each kind. */
const catalogues: ReadonlySet<string> = new Set(['getCapabilities', 'getStateMachines', 'getCoverage']);

/** The `webhooks` section of the document has all events. Linters treat an entry with `type` and `example` as a schema. */
const hasSchemaForm = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'type' in value && 'example' in value;

function shortened(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .filter((one) => !hasSchemaForm(one))
      .slice(0, 2)
      .map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const { eventSchemas: schemas, ...rest } = value as Record<string, unknown>;
  const short = Object.entries(rest).map(([name, part]) => [name, shortened(part)] as const);
  const [first] = Object.entries(schemas ?? {});
  return Object.fromEntries(first ? [...short, ['eventSchemas', Object.fromEntries([first])]] : short);
}

/** The example of an operation is its last call. */
function caller(
  app: FastifyInstance,
  key: string,
  exchanges: Record<string, Exchange>,
  tick: () => void,
): Call {
  const client = new ApiClient(app, key);
  return async (operationId, params = {}, body) => {
    const route = routes.find((one) => one.operationId === operationId);
    if (!route) throw new Error(`there is no operation ${operationId}`);
    const { query = '', ...inPath } = params;
    const path = route.path.replace(/\{(\w+)\}/g, (_match, name: string) => inPath[name] ?? '');
    tick();
    const answer = route.method === 'GET' ? await client.get(path, query) : await client.post(path, body);
    if (answer.status >= 300) throw new Error(`${operationId} failed: ${answer.text}`);
    const response = catalogues.has(operationId) ? shortened(answer.body) : answer.body;
    exchanges[operationId] = { ...(body === undefined ? {} : { request: body }), response };
    return answer.body;
  };
}

async function callAll(call: Call, callNow: Call, settle: () => Promise<void>, url: string): Promise<void> {
  for (const operation of ['getStatus', 'getCapabilities', 'getStateMachines', 'getClock'])
    await call(operation);
  const endpoint = await webhooks(call, callNow, url);
  const customer = await call('createCustomer', {}, { name: 'Ada Lovelace', email: 'ada@example.com' });
  await call('updateCustomer', { id: customer.id }, { phone: '+442079460958', metadata: { plan: 'pro' } });
  await payments(call, customer.id);
  await transfers(call, customer.id);
  await call('listCustomers');
  await call('retrieveCustomer', { id: customer.id });
  await call('archiveCustomer', { id: customer.id });
  await call('freezeClock');
  await call('resumeClock');
  await call('freezeClock');
  await call('advanceClock', {}, { seconds: 86_400 });
  for (const operation of ['listSettlements', 'getReconciliation', 'getBalances']) await call(operation);
  await call('retrieveSettlement', { date: '2026-11-15' });
  await call('resetClock');
  await events(call, endpoint, settle);
  await tools(call, callNow, endpoint);
}

async function webhooks(call: Call, callNow: Call, url: string): Promise<string> {
  const input = { url, eventTypes: ['payment.*', 'transfer.completed'], retryProfile: 'fast' };
  const { id } = await call('createWebhook', {}, input);
  await call('updateWebhook', { id }, { description: 'Orders', maxConcurrency: 1 });
  await call('rotateWebhookSecret', { id }, { overlapSeconds: 3_600 });
  await callNow('testWebhook', { id }, { type: 'payment.captured' });
  await call('listWebhookDeliveries');
  const inbox = await call('openWebhookInbox', {}, { inbox: { type: 'respond', responseStatus: 500 } });
  await call('deleteWebhook', { id: inbox.id });
  await call('disableWebhook', { id });
  await call('enableWebhook', { id });
  await call('listWebhooks');
  await call('retrieveWebhook', { id });
  return id;
}

async function payments(call: Call, customerId: string): Promise<void> {
  const input = {
    amount: 12_500,
    currency: 'EUR',
    customerId,
    captureMethod: 'manual',
    reference: 'order-1001',
  };
  const { id } = await call('createPayment', {}, { ...input, metadata: { cart: '81' } });
  await call('updatePayment', { id }, { description: 'Order 1001', metadata: { cart: '82' } });
  await call('advancePayment', { id }, { to: 'authorized' });
  await call('advancePayment', { id }, { action: 'capture', amount: 10_000, final: true });
  await call('refundPayment', { id }, { amount: 2_500, reason: 'One item was sent back' });
  const pending = await call('createPayment', {}, { ...input, scenario: 'refund_pending' });
  await call('advancePayment', { id: pending.id }, { to: 'captured' });
  const refund = await call(
    'refundPayment',
    { id: pending.id },
    { amount: 2_500, reason: 'One item was sent back' },
  );
  await call('advanceRefund', { id: refund.id }, { action: 'succeed' });
  const disputed = await call('createPayment', {}, { ...input, reference: 'order-1002' });
  const { disputeId } = await call('advancePayment', { id: disputed.id }, { to: 'disputed' });
  const evidence = { receipt: 'https://shop.example/receipts/1002' };
  await call('advanceDispute', { id: String(disputeId) }, { action: 'submit_evidence', evidence });
  const settled = await call(
    'createPayment',
    {},
    { ...input, metadata: { cart: '81' }, scenario: 'approve' },
  );
  await call('advancePayment', { id: settled.id }, { to: 'settled' });
  await call('advancePayment', { id: settled.id }, { action: 'refund', amount: 2_500 });
  await call('retrievePayment', { id: settled.id });
  await call('retrieveRefund', { id: refund.id });
  await call('retrieveDispute', { id: String(disputeId) });
  await call('listPaymentHistory', { id });
  for (const of of ['listPaymentProviderEvents', 'listPaymentLedgerEntries']) await call(of, { id });
  await call('listPayments', { query: 'limit=2' });
  for (const of of ['listRefunds', 'listDisputes', 'listLedgerEntries']) await call(of, { query: 'limit=2' });
}

async function transfers(call: Call, customerId: string): Promise<void> {
  await call('listFxRates', { query: 'sourceCurrency=EUR&targetCurrency=USD' });
  const beneficiary = { name: 'Grace Hopper', country: 'US', account: '000123456789' };
  const amounts = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 50_000 };
  const { id } = await call(
    'createTransfer',
    {},
    { ...amounts, customerId, beneficiary, reference: 'invoice-77' },
  );
  await call('advanceTransfer', { id }, { action: 'accept' });
  await call('advanceTransfer', { id }, { to: 'completed' });
  await call('retrieveTransfer', { id });
  for (const of of ['listTransferHistory', 'listTransferProviderEvents', 'listTransferLedgerEntries'])
    await call(of, { id });
  await call('listTransfers', { query: 'limit=2' });
}

async function events(call: Call, endpoint: string, settle: () => Promise<void>): Promise<void> {
  const { id } = await call(
    'createWebhookEvent',
    {},
    { type: 'payment.captured', data: { reference: 'order-1003' } },
  );
  await call('retrieveWebhookEvent', { id });
  await call('listWebhookEvents', { query: 'limit=2' });
  await call('replayWebhookEvent', { id }, { webhookId: endpoint });
  await settle();
  const { data } = await call('listWebhookDeliveries', { query: 'status=succeeded&limit=2' });
  await call('retrieveWebhookDelivery', { id: data[0]?.id ?? '' });
  const span = { from: '2026-11-15T00:00:00.000Z', to: '2026-11-16T00:00:00.000Z' };
  await call('replayWebhookDeliveries', {}, { ...span, select: 'failed' });
  const replays = await call('listWebhookReplays');
  await call('retrieveWebhookReplay', { id: replays.data[0]?.id ?? '' });
}

async function tools(call: Call, callNow: Call, endpoint: string): Promise<void> {
  const lost = { type: 'lose_answer' };
  const { id } = await call('createFaultPlan', {}, { on: 'requests', fault: lost, count: 1, seed: 42 });
  await call('retrieveFaultPlan', { id });
  await call('listFaultPlans', { query: 'limit=2' });
  await call('cancelFaultPlan', { id });
  const cases = ['valid_signature', 'wrong_signature'];
  await callNow('examineWebhook', { id: endpoint }, { cases });
  await callNow('createCustomer', {}, { name: 'Ada Lovelace', email: 'ada@example.com' });
  const { data } = await callNow('listRequests', { query: 'limit=1&method=POST' });
  await callNow('retrieveRequest', { id: data[0]?.id ?? '' });
  await callNow('listAuditEntries', { query: 'limit=1&action=customers.create' });
  await callNow('verifyAuditTrail');
  for (const operation of ['getCoverage', 'resetCoverage', 'resetOrganization']) await callNow(operation);
}
