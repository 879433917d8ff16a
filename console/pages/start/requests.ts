import { postRequest } from '../../client/request.ts';

const weekSeconds = 604_800;

/** The requests that the quick start runs. */
export const createPayment = postRequest('developer_api_payments', {
  amount: 1250,
  currency: 'EUR',
  autoAdvance: true,
});
export const createWebhook = postRequest('developer_api_webhooks', {
  url: 'http://127.0.0.1:9000/webhooks',
});
export const createDeclinedPayment = postRequest('developer_api_payments', {
  amount: 1250,
  currency: 'EUR',
  scenario: 'decline:insufficient_funds',
  autoAdvance: true,
});
export const advanceClock = postRequest('developer_api_clock/advance', { seconds: weekSeconds });
export const settlePayment = (id: string) =>
  postRequest(`developer_api_payments/${id}/advance`, { to: 'settled' });
