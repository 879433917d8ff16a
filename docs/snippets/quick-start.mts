// Runs with Node 20 or newer and nothing else: SANDBANK_API_KEY=sbk_sandbox_... npx tsx quick-start.mts
const api = 'http://127.0.0.1:4000/_api';
const authorization = `Bearer ${process.env.SANDBANK_API_KEY}`;

async function call(path: string, body?: object, key?: string) {
  const answer = await fetch(`${api}/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const result = await answer.json();
  if (!answer.ok) throw new Error(`${result.error.code}: ${result.error.message} (${result.requestId})`);
  return result;
}

const order = { amount: 1250, currency: 'EUR', reference: 'quick-2' };
const payment = await call('developer_api_payments', order, 'quick-2');
console.log(payment.id, payment.status, payment.allowedActions);

const captured = await call(
  `developer_api_payments/${payment.id}/advance`,
  { action: 'capture' },
  'quick-2-capture',
);
console.log(captured.status, captured.amountCaptured);

const refund = await call(`developer_api_payments/${payment.id}/refund`, { amount: 250 }, 'quick-2-refund');
console.log(refund.object, refund.status);
