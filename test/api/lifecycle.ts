import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer, ApiClient, Body } from '../support/api-client.ts';
import { disputes, payments, refunds } from './trails.ts';

/** The calls of a payment's life, in the words of its tests. Those that make something insist that it was made. */
export interface Lifecycle {
  create(body?: Readonly<Record<string, unknown>>): Promise<Body>;
  advance(id: string, body?: unknown, query?: string): Promise<Answer>;
  refund(id: string, body?: unknown, query?: string): Promise<Answer>;
  advanceRefund(id: string, body?: unknown): Promise<Answer>;
  advanceDispute(id: string, body?: unknown): Promise<Answer>;
  /** A new payment that went through these actions or bodies of `advance`. */
  paid(steps: readonly (string | object)[], body?: Readonly<Record<string, unknown>>): Promise<Body>;
  read(id: string): Promise<Body>;
  list(id: string, what: 'history' | 'ledger_entries' | 'provider_events', query?: string): Promise<Answer>;
  /** The balances of one payment that are not zero, by account. */
  balances(id: string): Promise<Readonly<Record<string, number>>>;
}

export function lifecycle(client: ApiClient): Lifecycle {
  const post = (path: string, body: unknown, query = '') =>
    client.post(path, body, { query, idempotencyKey: randomUUID() });
  const self: Lifecycle = {
    create: async (body = {}) => done(await post(payments, { amount: 10_000, currency: 'EUR', ...body })),
    advance: (id, body, query) => post(`${payments}/${id}/advance`, body, query),
    refund: (id, body, query) => post(`${payments}/${id}/refund`, body, query),
    advanceRefund: (id, body) => post(`${refunds}/${id}/advance`, body),
    advanceDispute: (id, body) => post(`${disputes}/${id}/advance`, body),
    paid: async (steps, body) => {
      let payment = await self.create(body);
      for (const step of steps) {
        const asked = typeof step === 'string' ? { action: step } : step;
        payment = done(await self.advance(payment.id, asked));
      }
      return payment;
    },
    read: async (id) => done(await client.get(`${payments}/${id}`)),
    list: (id, what, query) => client.get(`${payments}/${id}/${what}`, query),
    balances: async (id) => {
      const { accounts } = done(await client.get('developer_api_balances', `paymentId=${id}`)) as unknown as {
        accounts: { account: string; balance: number }[];
      };
      return Object.fromEntries(
        accounts.filter(({ balance }) => balance !== 0).map(({ account, balance }) => [account, balance]),
      );
    },
  };
  return self;
}

export function done(answer: Answer): Body {
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

export function expectReplay(replay: Answer, first: Answer): void {
  expect([replay.status, replay.text]).toEqual([first.status, first.text]);
  expect(replay.headers['idempotent-replayed']).toBe('true');
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
}

/** Walks a list in pages and gives all of it; every page but the last is full. */
export async function walked(page: (query: string) => Promise<Answer>, limit: number): Promise<Body[]> {
  const seen: Body[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 100; pages += 1) {
    const { body } = await page(`limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`);
    seen.push(...body.data);
    expect(body.hasMore).toBe(body.nextCursor !== null);
    if (body.nextCursor === null) return seen;
    expect(body.data).toHaveLength(limit);
    cursor = body.nextCursor;
  }
  throw new Error('the list has no end');
}

export const unknownIds = {
  payment: 'pay_01m7epxwjmf7za77rhky2f93cc',
  refund: 'rfd_01m7epxwjmf7za77rhky2f93cc',
  dispute: 'dsp_01m7epxwjmf7za77rhky2f93cc',
} as const;
