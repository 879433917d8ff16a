import { ConflictError, InvalidRequestError, Sandbank, SandbankError } from 'sandbank/client';

const sandbank = new Sandbank();
const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });

try {
  await sandbank.payments.advance(payment.id, { action: 'settle' });
} catch (error) {
  if (error instanceof ConflictError) {
    // The payment is in another state: these actions are allowed.
    console.log(error.code, error.allowedActions?.includes('authorize'));
  } else if (error instanceof InvalidRequestError) {
    console.log(error.code, error.param, error.message);
  } else if (error instanceof SandbankError) {
    // Use the request id to find the request in the console and in the server log.
    console.log(error.code, error.requestId, error.docUrl);
  } else {
    throw error;
  }
}
