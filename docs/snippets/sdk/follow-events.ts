import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
const events = sandbank.events.stream({
  eventTypes: ['payment.*'],
  // From now on no event is missed: the stream resumes after a lost connection.
  onOpen: () => void sandbank.payments.create({ amount: 1250, currency: 'EUR' }),
});
for await (const event of events) {
  if (event.type !== 'payment.created') continue;
  console.log(event.type, event.data.amount);
  break; // ends the connection; a signal does as well
}
