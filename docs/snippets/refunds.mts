import { Sandbank, SandbankError } from 'sandbank/client';

const sandbank = new Sandbank();
const payment = await sandbank.payments.create({ amount: 5000, currency: 'EUR', scenario: 'refund_pending' });
const captured = await sandbank.payments.advance(payment.id, { action: 'capture' });
console.log(captured.object, captured.status);

// The refund is pending, and its amount is already reserved.
const refund = await sandbank.payments.refund(payment.id, { amount: 2000, reason: 'one item came back' });
const { object, status } = await sandbank.payments.retrieve(payment.id);
console.log(object, status);
const succeeded = await sandbank.refunds.advance(refund.id, { action: 'succeed' });
console.log(succeeded.object, succeeded.status);

// More than the remaining amount is rejected, and nothing changes.
try {
  await sandbank.payments.refund(payment.id, { amount: 999999 });
} catch (error) {
  if (error instanceof SandbankError) console.log(error.code);
  else throw error;
}
