import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank(); // reads SANDBANK_API_KEY, and SANDBANK_URL if it is set

// Create a payment of 12.50 EUR. The idempotency key makes it safe to send twice; without one, the client generates it.
const payment = await sandbank.payments.create(
  { amount: 1250, currency: 'EUR', reference: 'quick-ts' },
  { idempotencyKey: 'quick-ts' },
);
console.log(payment.object, payment.status);

// Capture it, then refund a part.
const captured = await sandbank.payments.advance(
  payment.id,
  { action: 'capture' },
  { idempotencyKey: 'quick-ts-capture' },
);
console.log(captured.object, captured.status);
const refund = await sandbank.payments.refund(
  payment.id,
  { amount: 250, reason: 'one item came back' },
  { idempotencyKey: 'quick-ts-refund' },
);
console.log(refund.object, refund.status);

// Read its history and its ledger balances.
const history = await sandbank.payments.history(payment.id);
console.log(history.object, history.status);
const balances = await sandbank.ledger.balances({ paymentId: payment.id });
console.log(balances.object, balances.status);
