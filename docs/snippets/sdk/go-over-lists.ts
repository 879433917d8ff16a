import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
for (const amount of [1000, 2000, 3000]) await sandbank.payments.create({ amount, currency: 'EUR' });

// All pages: the next one is asked for when the loop gets there. Leave the loop, and no more is asked for.
for await (const payment of sandbank.payments.list({ status: 'pending', limit: 2 })) {
  console.log(payment.amount);
}

// One page.
const { data, hasMore, nextCursor } = await sandbank.payments.list({ limit: 2 });
console.log(data.length, hasMore, nextCursor !== null);

// All at once; a list of more than 10,000 items is refused unless you raise itemsMax.
const all = await sandbank.payments.list().toArray();
console.log(all.length);
