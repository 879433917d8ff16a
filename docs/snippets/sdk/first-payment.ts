import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank(); // SANDBANK_API_KEY and SANDBANK_URL, or { apiKey, baseUrl }

const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
console.log(payment.status); // pending

const captured = await sandbank.payments.advance(payment.id, { to: 'captured' });
console.log(captured.status, captured.amountCaptured); // captured 1250

const refund = await sandbank.payments.refund(payment.id, { amount: 250, reason: 'one item came back' });
console.log(refund.status, refund.amount); // succeeded 250
