import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
for (const amount of [1000, 2000, 3000]) await sandbank.payments.create({ amount, currency: 'EUR' });

// All pages. The loop requests the next page when it needs it; leaving the loop stops the requests.
for await (const payment of sandbank.payments.list({ status: 'pending', limit: 2 })) {
  console.log(payment.amount);
}

// One page.
const { data, hasMore, nextCursor } = await sandbank.payments.list({ limit: 2 });
console.log(data.length, hasMore, nextCursor !== null);

// All at once; a list of more than 10,000 items is rejected unless you raise itemsMax.
const all = await sandbank.payments.list().toArray();
console.log(all.length);
