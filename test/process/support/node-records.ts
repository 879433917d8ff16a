/** Records of every kind that a node caches, with changes that one node applies while another one has the record cached. */
import { expect } from 'vitest';
import { type Answer, API_KEY, call, PAYMENTS, postOk } from './client.ts';
import { DISPUTES, paymentAt, REFUNDS } from './payment-requests.ts';
import { DELIVERIES } from './webhook-servers.ts';

export const CUSTOMERS = '/_api/developer_api_customers';
export const TRANSFERS = '/_api/developer_api_transfers';
export const WEBHOOKS = '/_api/developer_api_webhooks';
export const EVENTS = '/_api/developer_api_webhook_events';
export const ENTRIES = '/_api/developer_api_ledger_entries';
const AUDIT = '/_api/developer_api_audit_entries';

export type Shown = Answer['body'] & {
  readonly id: string;
  readonly status: string;
  readonly version: number;
};

interface Change {
  /** Below the path of the record. */
  readonly path: string;
  readonly body: object;
}

export interface ChangingKind {
  readonly path: string;
  create(node: string): Promise<string>;
  /** In this order. Each one is a new version of the record. */
  readonly changes: readonly Change[];
}

const actions = (...names: readonly string[]): Change[] =>
  names.map((action) => ({ path: 'advance', body: { action } }));
const times = (count: number, change: (n: number) => Change): Change[] =>
  Array.from({ length: count }, (_, n) => change(n));

const createWith = (path: string, body: object) => async (node: string) =>
  String((await postOk(node + path, body)).id);

export const TRANSFER = {
  ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 },
  beneficiary: { name: 'Grace' },
};

export const paymentKind: ChangingKind = {
  path: PAYMENTS,
  create: createWith(PAYMENTS, { amount: 10_000, currency: 'EUR', captureMethod: 'manual' }),
  changes: [
    ...actions('authorize'),
    ...times(8, (n) => ({ path: 'advance', body: { action: 'capture', amount: 100 + n } })),
    { path: 'advance', body: { action: 'capture', final: true } },
    ...actions('settle'),
    ...times(4, (n) => ({ path: 'advance', body: { action: 'refund', amount: 10 + n } })),
  ],
};

export const changingKinds: Readonly<Record<string, ChangingKind>> = {
  payment: paymentKind,
  transfer: {
    path: TRANSFERS,
    create: createWith(TRANSFERS, TRANSFER),
    changes: actions(
      'accept',
      'fund',
      'review',
      'release',
      'convert',
      'send',
      'return',
      'resend',
      'complete',
    ),
  },
  customer: {
    path: CUSTOMERS,
    create: createWith(CUSTOMERS, { name: 'Ada' }),
    changes: [
      ...times(12, (n) => ({ path: 'update', body: { name: `Ada ${n}` } })),
      { path: 'archive', body: {} },
    ],
  },
  webhook: {
    path: WEBHOOKS,
    // No payment, customer or transfer emits this type, so nothing is sent to it.
    create: createWith(WEBHOOKS, { url: 'http://127.0.0.1:9/unused', eventTypes: ['dispute.won'] }),
    changes: times(12, (n) =>
      n % 3 === 0
        ? { path: 'update', body: { description: `endpoint ${n}` } }
        : { path: n % 3 === 1 ? 'disable' : 'enable', body: {} },
    ),
  },
  refund: {
    path: REFUNDS,
    create: async (node) => {
      const id = await paymentAt(node, 'captured', {
        ...{ amount: 1_000, currency: 'EUR', scenario: 'refund_pending' },
      });
      return createWith(`${PAYMENTS}/${id}/refund`, { amount: 100 })(node);
    },
    changes: actions('succeed'),
  },
  dispute: {
    path: DISPUTES,
    create: async (node) => {
      const id = await paymentAt(node, 'captured', { amount: 1_000, currency: 'EUR' });
      const moved = await postOk(`${node + PAYMENTS}/${id}/advance`, { action: 'dispute', amount: 300 });
      return String(moved.disputeId);
    },
    changes: actions('accept'),
  },
};

/** A response without its request id, which differs for every read. */
export function contentOf({ body: { requestId: _own, ...content } }: Pick<Answer, 'body'>): Shown {
  return content as unknown as Shown;
}

export async function read(url: string, key = API_KEY): Promise<Shown> {
  const answer = await call(url, { key });
  expect(answer.status, `${url}: ${answer.text}`).toBe(200);
  return contentOf(answer);
}

export async function readPage(url: string, key = API_KEY): Promise<readonly Shown[]> {
  return (await read(url, key)).data as readonly Shown[];
}

/** The tables behind the lists, whose ids are all different. */
export const LISTS: Readonly<Record<string, { readonly path: string; readonly isReadById: boolean }>> = {
  payments: { path: PAYMENTS, isReadById: true },
  customers: { path: CUSTOMERS, isReadById: true },
  transfers: { path: TRANSFERS, isReadById: true },
  refunds: { path: REFUNDS, isReadById: true },
  disputes: { path: DISPUTES, isReadById: true },
  webhooks: { path: WEBHOOKS, isReadById: true },
  events: { path: EVENTS, isReadById: true },
  deliveries: { path: DELIVERIES, isReadById: true },
  ledger_entries: { path: ENTRIES, isReadById: false },
  audit: { path: AUDIT, isReadById: false },
};
