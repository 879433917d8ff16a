import { Sandbank, SandbankError } from 'sandbank/client';

const sandbank = new Sandbank();
const customer = await sandbank.customers.create({
  name: 'Grace Hopper',
  email: 'grace@example.test',
  reference: 'user-42',
});
const updated = await sandbank.customers.update(customer.id, {
  phone: '+1 555 0100',
  metadata: { plan: 'gold' },
});
console.log(updated.object, updated.status);
const order = { amount: 1250, currency: 'EUR', customerId: customer.id };
const payment = await sandbank.payments.create(order);
console.log(payment.object, payment.status);
const payments = await sandbank.payments.list({ customerId: customer.id });
console.log(payments.object, payments.status);

const archived = await sandbank.customers.archive(customer.id);
console.log(archived.object, archived.status);
try {
  await sandbank.payments.create(order);
} catch (error) {
  if (error instanceof SandbankError) console.log(error.code);
  else throw error;
}
