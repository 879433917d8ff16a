/** Requests that move payments, and the balances that result. */
import { expect } from 'vitest';
import { type Answer, call, PAYMENTS, postOk } from './client.ts';

export const REFUNDS = '/_api/developer_api_refunds';
export const DISPUTES = '/_api/developer_api_disputes';

/** Creates a payment and advances it to a state. */
export async function paymentAt(node: string, to: string | null, fields: object): Promise<string> {
  const { id } = await postOk(node + PAYMENTS, fields);
  if (to !== null) await postOk(`${node + PAYMENTS}/${id}/advance`, { to });
  return String(id);
}

/** How many responses have each status or error code. A status of 5xx fails. */
export function tally(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const { code } = (body.error ?? {}) as { code?: string };
    expect(status, JSON.stringify(body)).toBeLessThan(500);
    const name = code ?? String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

interface Balance {
  readonly account: string;
  readonly currency: string;
  readonly balance: number;
}

/** The accounts in one currency that are not at zero. Every trial balance must be. */
export async function balancesIn(node: string, currency: string): Promise<Readonly<Record<string, number>>> {
  const { body } = await call(`${node}/_api/developer_api_balances`);
  for (const { amount } of body.trialBalance as readonly { amount: number }[]) expect(amount).toBe(0);
  return Object.fromEntries(
    (body.accounts as readonly Balance[])
      .filter((row) => row.currency === currency && row.balance !== 0)
      .map(({ account, balance }) => [account, balance]),
  );
}
