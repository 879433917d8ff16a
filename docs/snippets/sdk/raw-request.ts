import { type Payment, Sandbank } from 'sandbank/client';

const sandbank = new Sandbank({
  onResponse: ({ method, path, status }) => method === 'POST' && console.log(method, path, status),
});
const payment = await sandbank.request<Payment>('POST', '/_api/developer_api_payments', {
  body: { amount: 1250, currency: 'EUR' },
});
const { version } = await sandbank.request<Payment>('GET', `/_api/developer_api_payments/${payment.id}`);
console.log(payment.status, version);
