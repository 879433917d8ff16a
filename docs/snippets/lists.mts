import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();

// Every pending payment. The client requests the next page when the loop needs it.
let count = 0;
for await (const payment of sandbank.payments.list({ status: 'pending', limit: 100 })) {
  if (payment.amount > 0) count += 1;
}
console.log(`pending payments: ${count}`);
