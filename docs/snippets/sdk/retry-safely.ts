import { responseOf, Sandbank } from 'sandbank/client';

const sandbank = new Sandbank({
  timeoutMs: 10_000, // for one attempt
  retriesMax: 5,
  onRetry: ({ retry, waitMs, error }) => console.warn(`retry ${retry} in ${waitMs} ms: ${error.code}`),
});

// Your own key makes the write safe across processes: a job that runs again gets the first response.
const charge = () =>
  sandbank.payments.create({ amount: 1250, currency: 'EUR' }, { idempotencyKey: 'order-17' });

const [first, second] = [await charge(), await charge()];
console.log(first.id === second.id, responseOf(first)?.isReplay, responseOf(second)?.isReplay); // true false true
