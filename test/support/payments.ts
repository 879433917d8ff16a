/** Payments, refunds and disputes in tests: their paths and calls. */
import { randomUUID } from 'node:crypto';
import { type Answer, type ApiClient, type Body, expectOk } from './api-client.ts';

export const payments = 'developer_api_payments';
export const refunds = 'developer_api_refunds';
export const disputes = 'developer_api_disputes';
export const customers = 'developer_api_customers';

export const unknownIds = {
  payment: 'pay_01m7epxwjmf7za77rhky2f93cc',
  refund: 'rfd_01m7epxwjmf7za77rhky2f93cc',
  dispute: 'dsp_01m7epxwjmf7za77rhky2f93cc',
} as const;

/** Calls that return a body fail unless the response is a success; calls that return an answer accept any response. */
export interface PaymentApi {
  create(body?: Readonly<Record<string, unknown>>): Promise<Body>;
  advance(id: string, body?: unknown, query?: string): Promise<Answer>;
  refund(id: string, body?: unknown, query?: string): Promise<Answer>;
  advanceRefund(id: string, body?: unknown): Promise<Answer>;
  advanceDispute(id: string, body?: unknown): Promise<Answer>;
  /** Creates a payment and advances it: each step is an action or a body of `advance`. */
  createAndAdvance(
    steps: readonly (string | object)[],
    body?: Readonly<Record<string, unknown>>,
  ): Promise<Body>;
  read(id: string): Promise<Body>;
  list(id: string, list: 'history' | 'ledger_entries' | 'provider_events', query?: string): Promise<Answer>;
  /** The balances of one payment that are not zero, by account. */
  balances(id: string): Promise<Readonly<Record<string, number>>>;
}

export function paymentApi(client: ApiClient): PaymentApi {
  const post = (path: string, body: unknown, query = '') =>
    client.post(path, body, { query, idempotencyKey: randomUUID() });
  const self: PaymentApi = {
    create: async (body = {}) => expectOk(await post(payments, { amount: 10_000, currency: 'EUR', ...body })),
    advance: (id, body, query) => post(`${payments}/${id}/advance`, body, query),
    refund: (id, body, query) => post(`${payments}/${id}/refund`, body, query),
    advanceRefund: (id, body) => post(`${refunds}/${id}/advance`, body),
    advanceDispute: (id, body) => post(`${disputes}/${id}/advance`, body),
    createAndAdvance: async (steps, body) => {
      let payment = await self.create(body);
      for (const step of steps) {
        const request = typeof step === 'string' ? { action: step } : step;
        payment = expectOk(await self.advance(payment.id, request));
      }
      return payment;
    },
    read: async (id) => expectOk(await client.get(`${payments}/${id}`)),
    list: (id, list, query) => client.get(`${payments}/${id}/${list}`, query),
    balances: async (id) => {
      const { accounts } = expectOk(
        await client.get('developer_api_balances', `paymentId=${id}`),
      ) as unknown as {
        accounts: { account: string; balance: number }[];
      };
      return Object.fromEntries(
        accounts.filter(({ balance }) => balance !== 0).map(({ account, balance }) => [account, balance]),
      );
    },
  };
  return self;
}
