import { ConflictError, InvalidRequestError, Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });

// A pending payment cannot be settled. The error names the allowed actions.
try {
  await sandbank.payments.advance(payment.id, { action: 'settle' });
} catch (error) {
  if (!(error instanceof ConflictError)) throw error;
  console.log(error.code, error.allowedActions?.includes('capture'));
}

// An invalid value is rejected, and `param` points to it.
try {
  await sandbank.payments.create({ amount: -1, currency: 'EUR' });
} catch (error) {
  if (!(error instanceof InvalidRequestError)) throw error;
  console.log(error.code, error.param);
}
