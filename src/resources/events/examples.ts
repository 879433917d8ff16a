import type { EventRow } from '../../kernel/event.ts';
import { limits } from '../../kernel/limits.ts';
import { archiveCustomer, createCustomer, updateCustomer } from '../customers/machine.ts';
import { advanceDispute, type Evidence } from '../disputes/machine.ts';
import { advancePayment, firePayment } from '../payments/advance.ts';
import { type CreatePayment, createPayment } from '../payments/machine.ts';
import { type MoveParams, noParams, paymentDue } from '../payments/scenario.ts';
import type { PaymentRow } from '../payments/table.ts';
import { advanceRefund, refundPayment } from '../refunds/advance.ts';
import { advanceTransfer, fireTransfer, transferDue } from '../transfers/advance.ts';
import { noTransferParams, quoteTransfer } from '../transfers/machine.ts';
import type { TransferRow } from '../transfers/table.ts';
import { createWebhook, giveUpWebhook } from '../webhooks/machine.ts';
import { beginTest } from '../webhooks/test-event-commands.ts';
import { opening, type Present, Stage } from './example-runner.ts';

/**
 * Plays every kind of event once, with the commands that the server itself decides by: an example that was written down
 * would be wrong after the next field. The first play that tells a type gives its example.
 */
export function playEvents(present: Present): ReadonlyMap<string, EventRow> {
  const stage = new Stage(present);
  stage.begin();
  stage.play(createCustomer, customer);
  playPayments(stage);
  playRefunds(stage);
  playDisputes(stage);
  playTransfers(stage);
  playWebhooks(stage);
  stage.begin(1);
  stage.play(updateCustomer, { id: stage.last('customer'), fields: { phone: '+49 30 5550101' } });
  stage.play(archiveCustomer, { id: stage.last('customer') });
  return stage.events;
}

const customer = {
  name: 'Ada Example',
  email: 'ada@example.com',
  phone: null,
  reference: 'customer-7',
  metadata: {},
};

const order: Omit<CreatePayment, 'customerId'> = {
  amount: 12_500n,
  currency: 'EUR',
  captureMethod: 'automatic',
  paymentMethodType: 'card',
  cardNumber: '4242424242424242',
  description: 'Order 1001',
  reference: 'order-1001',
  metadata: { cart: '81' },
  scenario: null,
  autoAdvance: false,
};

const part = 5_000n;

function pay(stage: Stage, wishes: Partial<CreatePayment> = {}): void {
  stage.begin();
  stage.play(createPayment, { ...order, customerId: stage.last('customer'), ...wishes });
}

/** A step by name, or what the scenario does next. */
function advance(stage: Stage, action?: string, params: Partial<MoveParams> = {}): void {
  stage.play(advancePayment, {
    id: stage.last('payment'),
    request:
      action === undefined ? { by: 'next' } : { by: 'action', action, params: { ...noParams, ...params } },
  });
}

function playPayments(stage: Stage): void {
  pay(stage, { captureMethod: 'manual' });
  advance(stage, 'authorize');
  advance(stage, 'capture');
  wait(stage);
  refund(stage, part);
  refund(stage, null);

  pay(stage, { captureMethod: 'manual' });
  advance(stage, 'authorize');
  advance(stage, 'capture', { amount: part });

  pay(stage, { captureMethod: 'manual' });
  advance(stage, 'authorize');
  wait(stage);

  pay(stage, { scenario: 'require_action', cardNumber: '4000002500003155' });
  advance(stage);
  advance(stage, 'cancel');

  pay(stage, { scenario: 'async', paymentMethodType: 'bank_debit', cardNumber: null });
  advance(stage);

  pay(stage, { scenario: ['decline:insufficient_funds', 'approve'], cardNumber: '4000000000009995' });
  advance(stage);
  advance(stage);
}

/** Lets a payment wait for what its clock brings: the day it is paid out, or the end of its authorization. */
function wait(stage: Stage): void {
  stage.wait<PaymentRow>('payment', paymentDue, (row, due, context) =>
    firePayment({ ok: true, row, dispute: null, changes: [] }, due, context),
  );
}

function refund(stage: Stage, amount: bigint | null): void {
  stage.play(refundPayment, {
    paymentId: stage.last('payment'),
    amount,
    currency: null,
    reason: 'The customer sent the goods back',
    metadata: {},
  });
}

function playRefunds(stage: Stage): void {
  pay(stage, { scenario: 'refund_pending' });
  advance(stage);
  refund(stage, part);
  stage.play(advanceRefund, {
    id: stage.last('refund'),
    request: { by: 'action', action: 'cancel', params: null },
  });

  pay(stage, { scenario: 'refund_fails' });
  advance(stage);
  refund(stage, part);
}

function playDisputes(stage: Stage): void {
  const answer = (action: string, evidence: Evidence = null) =>
    stage.play(advanceDispute, {
      id: stage.last('dispute'),
      request: { by: 'action', action, params: evidence },
    });
  const evidence = { receipt: 'Signed by the customer on delivery', tracking: 'EX123456789' };

  pay(stage, { scenario: 'dispute', cardNumber: '4000000000000259' });
  advance(stage);
  advance(stage, 'dispute', { reason: 'product_not_received' });
  answer('submit_evidence', evidence);
  answer('escalate');
  answer('submit_evidence');
  answer('win');

  pay(stage, { scenario: 'dispute', cardNumber: '4000000000000259' });
  advance(stage);
  advance(stage, 'dispute', { reason: 'product_not_received' });
  answer('submit_evidence', evidence);
  answer('lose');
}

function playTransfers(stage: Stage): void {
  const quote = (scenario = 'approve') => {
    stage.begin();
    stage.play(quoteTransfer, {
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      fixedSide: 'source',
      amount: 100_000n,
      fundFrom: 'external',
      customerId: stage.last('customer'),
      beneficiary: { name: 'Grace Example', country: 'US', account: '000123456789' },
      reference: 'invoice-2001',
      metadata: {},
      scenario,
      autoAdvance: false,
    });
  };
  const next = (steps: number) => {
    for (let step = 0; step < steps; step += 1)
      stage.play(advanceTransfer, { id: stage.last('transfer'), request: { by: 'next' } });
  };
  const act = (action: string) =>
    stage.play(advanceTransfer, {
      id: stage.last('transfer'),
      request: { by: 'action', action, params: noTransferParams },
    });

  quote();
  next(5);

  quote('return:account_closed');
  next(5);
  act('refund');

  quote('reject');
  next(4);

  quote();
  act('cancel');

  quote();
  stage.wait<TransferRow>('transfer', transferDue, (row, due, context, rows) =>
    fireTransfer(row, due.action, { ...context, now: due.at }, rows),
  );
}

function playWebhooks(stage: Stage): void {
  stage.begin();
  stage.play(createWebhook, {
    fields: {
      url: 'https://shop.example.com/webhooks',
      description: 'The shop',
      eventTypes: ['*'],
      retryProfile: 'standard',
      concurrencyMax: limits.webhookConcurrencyDefault,
    },
    urlProblem: null,
    others: 0,
    othersAtHost: 0,
    secret: 'whsec_of-the-shop-4Kq9',
    sealed: '',
  });
  stage.play(beginTest, { id: stage.last('webhook'), event: null, leaseUntil: opening });
  stage.play(giveUpWebhook, { id: stage.last('webhook'), reason: 'gone', failingSince: opening });
}
