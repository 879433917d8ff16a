/** Requests that prepare a round. They use fetch, because they are not measured. */
import { randomUUID } from 'node:crypto';
import { PAYMENT_BODY, PAYMENTS_PATH } from './requests.ts';

export const API_KEY = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';

export const SEED = {
  organizations: [
    {
      name: 'Bench',
      applications: [
        {
          name: 'bench',
          apiKeys: [{ name: 'bench', key: API_KEY, scopes: ['payments:read', 'payments:write'] }],
        },
      ],
    },
  ],
};

/** 400 more keys, each with a separate application. All applications belong to one organization. */
export const MANY_KEYS = Array.from(
  { length: 400 },
  (_, index) => `sbk_sandbox_0123456789abcdefghijABCDEFGH1${String(index).padStart(3, '0')}`,
);

export const SEED_WITH_MANY_KEYS = {
  organizations: SEED.organizations.map(({ name, applications }) => ({
    name,
    applications: [
      ...applications,
      ...MANY_KEYS.map((key, index) => ({
        name: `bench ${index + 1}`,
        apiKeys: [{ name: 'bench', key, scopes: ['payments:read', 'payments:write'] }],
      })),
    ],
  })),
};

const CREATES_AT_ONCE = 50;

export async function createPayment(url: string): Promise<{ paymentId: string; idempotencyKey: string }> {
  const idempotencyKey = randomUUID();
  const response = await fetch(url + PAYMENTS_PATH, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'idempotency-key': idempotencyKey,
      'content-type': 'application/json',
    },
    body: JSON.stringify(PAYMENT_BODY),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`A create request failed with ${response.status}: ${text}`);
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null || !('id' in body) || typeof body.id !== 'string') {
    throw new Error(`A created payment has no id: ${text}`);
  }
  return { paymentId: body.id, idempotencyKey };
}

export async function createPayments(url: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(CREATES_AT_ONCE, count - ids.length) }, () =>
      createPayment(url),
    );
    ids.push(...(await Promise.all(some)).map(({ paymentId }) => paymentId));
  }
  return ids;
}

export async function readPayment(url: string, id: string): Promise<string> {
  return read(`${url}${PAYMENTS_PATH}/${id}`);
}

export interface Balances {
  readonly accounts: readonly { readonly account: string; readonly balance: number | string }[];
  readonly trialBalance: readonly { readonly amount: number | string }[];
}

export async function readBalances(url: string): Promise<Balances> {
  return JSON.parse(await read(`${url}/_api/developer_api_balances`));
}

/** Counts by reading all pages of the list, as a client would. */
export async function countPayments(url: string, status: string): Promise<number> {
  const address = `${url}${PAYMENTS_PATH}?limit=100&status=${status}`;
  let count = 0;
  for (let cursor = ''; ; ) {
    const page: { data: unknown[]; nextCursor: string | null } = JSON.parse(await read(address + cursor));
    count += page.data.length;
    if (page.nextCursor === null) return count;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

async function read(address: string): Promise<string> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${API_KEY}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A read request failed with ${response.status}: ${text}`);
  return text;
}
