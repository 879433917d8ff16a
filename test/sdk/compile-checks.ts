// Compiled by `npm run check` and never run: each line is code that users write, or code that the compiler must reject.
import {
  type DeclineCode,
  type EventOf,
  type Payment,
  Sandbank,
  type TransferFailureCode,
} from '../../sdk/client.ts';
import { connectSandbank, startSandbank } from '../../sdk/testing.ts';

const sandbank = new Sandbank();

export async function actions(payment: Payment): Promise<void> {
  const [action] = payment.allowedActions;
  if (action !== undefined) await sandbank.payments.advance(payment.id, { action });
  for (const each of payment.allowedActions) await sandbank.payments.advance(payment.id, { action: each });
  // @ts-expect-error no payment has this action
  payment.allowedActions.includes('pay');

  const refund = await sandbank.refunds.retrieve('rfd_1');
  for (const each of refund.allowedActions) await sandbank.refunds.advance(refund.id, { action: each });
  const dispute = await sandbank.disputes.retrieve('dsp_1');
  for (const each of dispute.allowedActions) await sandbank.disputes.advance(dispute.id, { action: each });
  const transfer = await sandbank.transfers.retrieve('trf_1');
  for (const each of transfer.allowedActions) await sandbank.transfers.advance(transfer.id, { action: each });
  // @ts-expect-error this action belongs to payments
  await sandbank.refunds.advance(refund.id, { action: payment.allowedActions[0] });
}

export async function failureCodes(payment: Payment): Promise<void> {
  const code: DeclineCode | undefined = payment.failure?.code;
  await sandbank.payments.advance(payment.id, { action: 'fail', failureCode: code });
  // @ts-expect-error this is not a decline code
  if (payment.failure?.code === 'insufficent_funds') return;
  const attempt: DeclineCode | undefined = payment.attempts[0]?.failure?.code;
  const known: TransferFailureCode = 'funding_failed';
  const { failure } = await sandbank.transfers.retrieve('trf_1');
  // A provider may have other codes.
  void [attempt, failure?.code === known, failure?.code === 'AC04'];
}

export async function listedEvents(): Promise<void> {
  for await (const event of sandbank.events.list()) {
    if (event.type === 'payment.settled') void event.data.amountCaptured;
    // @ts-expect-error not every event has a payment
    void event.data.amountCaptured;
  }
  const event = await sandbank.events.retrieve('evt_1');
  if (event.type === 'transfer.sent') void event.data.targetAmount;
  // @ts-expect-error there is no such event type
  if (event.type === 'payment.setled') return;
}

export async function streamedEvents(): Promise<void> {
  for await (const event of sandbank.events.stream({ eventTypes: ['payment.*', 'refund.created'] })) {
    if (event.type === 'refund.created') void event.data.paymentId;
    else void event.data.captureMethod;
  }
  // @ts-expect-error there is no such event type
  sandbank.events.stream({ eventTypes: ['payment.setled'] });
}

export async function awaitedEvents(): Promise<void> {
  await using server = await startSandbank();
  await using tenant = await server.tenant({ clock: 'frozen' });
  const event = await tenant.events.waitFor('payment.settled', { where: ({ data }) => data.amount > 1 });
  const settled: EventOf<'payment.settled'>['type'] = event.type;
  void [settled, event.data.amount];
  const any = await tenant.events.waitFor('transfer.*');
  void any.data.sourceAmount;

  await using webhooks = await tenant.webhooks.capture({ eventTypes: ['payment.*'] });
  const captured = await webhooks.waitFor('payment.settled', { where: (one) => one.event.data.amount > 1 });
  void captured.event.data.amount;
  // @ts-expect-error there is no such event type
  await tenant.events.waitFor('payment.setled');
  // @ts-expect-error there is no such event type
  await webhooks.waitFor('payment.setled');
  // @ts-expect-error there is no such event type
  await tenant.webhooks.capture({ eventTypes: ['payment.setled'] });
}

export async function options(): Promise<void> {
  // @ts-expect-error the option is called baseUrl
  new Sandbank({ baseURL: 'http://127.0.0.1:4000' });
  // @ts-expect-error the option is called seed
  const server = await startSandbank({ sead: 1 });
  // @ts-expect-error the value is frozen
  await server.tenant({ clock: 'frosen' });
  // @ts-expect-error the option is called operatorToken
  connectSandbank({ token: 'x' });
  // @ts-expect-error the option is called idempotencyKey
  await sandbank.payments.create({ amount: 1, currency: 'EUR' }, { idempotencyKe: 'a' });
}

export async function rawRequests(): Promise<void> {
  const payment = await sandbank.request<Payment>('POST', '/_api/developer_api_payments', {
    body: { amount: 1250, currency: 'EUR' },
    idempotencyKey: 'order-17',
  });
  void payment.amount;
  // @ts-expect-error the API has no such method
  await sandbank.request('DELETE', '/_api/developer_api_payments');
}
