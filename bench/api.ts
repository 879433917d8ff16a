/** The few ordinary requests that prepare a round: with fetch, since nothing is measured here. */
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
  if (response.status !== 201) throw new Error(`A create was answered with ${response.status}: ${text}`);
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
  const response = await fetch(`${url}${PAYMENTS_PATH}/${id}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A read was answered with ${response.status}: ${text}`);
  return text;
}
