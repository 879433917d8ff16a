// Sends a write until it gets a response. Choose the key once, before the first attempt.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const api = 'http://127.0.0.1:4000/_api';
const attemptsMax = 5;

export async function post(path: string, body: object, key: string = randomUUID()) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${api}/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${process.env.SANDBANK_API_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined); // No response: the outcome is unknown, so retry with the same key.
    const result = response && (await response.json());
    if (response?.ok) return result;
    const mayRetry = response === undefined || result.error.retryable;
    if (!mayRetry || attempt === attemptsMax) throw new Error(result?.error.code ?? 'no response');
    const seconds = Number(response?.headers.get('retry-after') ?? 0) || Math.random() * 2 ** attempt * 0.1;
    await wait(seconds * 1000);
  }
}

const payment = await post('developer_api_payments', { amount: 4200, currency: 'USD' });
console.log(payment.status);
