import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
const frozen = await sandbank.clock.freeze();
console.log(frozen.object, frozen.status);

// An authorization holds for seven days.
const payment = await sandbank.payments.create({ amount: 7700, currency: 'EUR', captureMethod: 'manual' });
const authorized = await sandbank.payments.advance(payment.id, { action: 'authorize' });
console.log(authorized.object, authorized.status);

// Advance a week in milliseconds. The response lists everything that happened.
const advanced = await sandbank.clock.advance({ seconds: 604800 });
console.log(advanced.object, advanced.status);
const expired = await sandbank.payments.retrieve(payment.id);
console.log(expired.object, expired.status);

const reset = await sandbank.clock.reset();
console.log(reset.object, reset.status);
