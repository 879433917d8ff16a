import { responseOf, Sandbank, SandbankError } from 'sandbank/client';

const sandbank = new Sandbank();
const create = (amount: number) =>
  sandbank.payments.create({ amount, currency: 'EUR' }, { idempotencyKey: 'invoice-78' });

const first = await create(1250); // created
const second = await create(1250); // the same response, no second payment
console.log(first.id === second.id, responseOf(second)?.isReplay); // true true

try {
  await create(9900); // a different request with the same key
} catch (error) {
  if (error instanceof SandbankError)
    console.log(error.status, error.code); // 422 idempotency_key_reused
  else throw error;
}
