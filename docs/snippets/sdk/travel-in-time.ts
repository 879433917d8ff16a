import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR', captureMethod: 'manual' });
await sandbank.payments.advance(payment.id, { to: 'authorized' });

// An authorization expires after seven days. The call returns when everything due until then has been executed.
const { complete, happened } = await sandbank.clock.advance({ seconds: 8 * 24 * 60 * 60 });
console.log(
  complete,
  happened.some(({ id, to }) => id === payment.id && to === 'expired'),
);
console.log((await sandbank.payments.retrieve(payment.id)).status); // expired

await sandbank.clock.reset(); // back to real time
