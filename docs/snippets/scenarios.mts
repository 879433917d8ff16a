import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();

// The first attempt is declined, the second approved.
const declined = await sandbank.payments.create({
  amount: 4200,
  currency: 'USD',
  scenario: ['decline:insufficient_funds', 'approve'],
});
for (const body of [{}, { action: 'retry' }, {}] as const) {
  const { object, status } = await sandbank.payments.advance(declined.id, body);
  console.log(object, status);
}

// A test card selects a scenario as well: this one requires 3-D Secure first.
const secured = await sandbank.payments.create({
  amount: 4200,
  currency: 'USD',
  paymentMethod: { type: 'card', number: '4000002500003155' },
});
const waiting = await sandbank.payments.advance(secured.id);
console.log(waiting.object, waiting.status);

// Any state can be reached in one call.
const disputed = await sandbank.payments.create({ amount: 9900, currency: 'JPY' });
const charged = await sandbank.payments.advance(disputed.id, { to: 'charged_back' });
console.log(charged.object, charged.status);
