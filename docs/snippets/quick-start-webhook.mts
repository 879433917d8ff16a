import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();

// Your URL and the event types you want. `webhook.secret` is shown only this once.
const webhook = await sandbank.webhooks.create(
  { url: 'http://127.0.0.1:9001/', eventTypes: ['payment.*'] },
  { idempotencyKey: 'quick-hook-ts' },
);
console.log(webhook.object, webhook.status);

// Send one real, signed event now. The response contains the receiver's response.
const delivery = await sandbank.webhooks.test(webhook.id);
console.log(delivery.object, delivery.status);

// From now on, every payment event is sent to the endpoint.
const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
console.log(payment.object, payment.status);
const events = await sandbank.events.list({ type: 'payment.created', limit: 1 });
console.log(events.object, events.status);
