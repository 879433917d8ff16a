import type { EventRow } from '../../kernel/event.ts';
import { limits } from '../../kernel/limits.ts';
import { archiveCustomer, createCustomer, updateCustomer } from '../customers/machine.ts';
import { advanceDispute, type DisputeAction, type Evidence } from '../disputes/machine.ts';
import { advancePayment, firePayment } from '../payments/advance.ts';
import { type CreatePayment, createPayment, type PaymentAction } from '../payments/machine.ts';
import { type MoveParams, noParams, paymentDue } from '../payments/scenario.ts';
import { advanceRefund, refundPayment } from '../refunds/advance.ts';
import { advanceTransfer, fireTransfer } from '../transfers/advance.ts';
import { noTransferParams, quoteTransfer, type TransferAction } from '../transfers/machine.ts';
import { transferDue } from '../transfers/scenario.ts';
import { createWebhook, deleteWebhook, disableFailingWebhook } from '../webhooks/machine.ts';
import { beginTest } from '../webhooks/test-event-commands.ts';
import { ExampleRunner, type Present, startOfExamples } from './example-runner.ts';

/**
 * Emits every event type once, with the commands of the server itself: a hand-written example would be outdated after the
 * next new field. The first example that emits a type is the example of that type.
 */
export function runExamples(present: Present): ReadonlyMap<string, EventRow> {
  const runner = new ExampleRunner(present);
  runner.begin();
  runner.run(createCustomer, customer);
  runPayments(runner);
  runRefunds(runner);
  runDisputes(runner);
  runTransfers(runner);
  runWebhooks(runner);
  runner.begin(1);
  runner.run(updateCustomer, { id: runner.last('customer'), fields: { phone: '+49 30 5550101' } });
  runner.run(archiveCustomer, { id: runner.last('customer') });
  return runner.events;
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

function pay(runner: ExampleRunner, overrides: Partial<CreatePayment> = {}): void {
  runner.begin();
  runner.run(createPayment, { ...order, customerId: runner.last('customer'), ...overrides });
}

/** A named action, or the next step of the scenario. */
function advance(runner: ExampleRunner, action?: PaymentAction, params: Partial<MoveParams> = {}): void {
  runner.run(advancePayment, {
    id: runner.last('payment'),
    request:
      action === undefined ? { by: 'next' } : { by: 'action', action, params: { ...noParams, ...params } },
  });
}

function runPayments(runner: ExampleRunner): void {
  pay(runner, { captureMethod: 'manual' });
  advance(runner, 'authorize');
  advance(runner, 'capture');
  wait(runner);
  refund(runner, part);
  refund(runner, null);

  pay(runner, { captureMethod: 'manual' });
  advance(runner, 'authorize');
  advance(runner, 'capture', { amount: part });

  pay(runner, { captureMethod: 'manual' });
  advance(runner, 'authorize');
  wait(runner);

  pay(runner, { scenario: 'require_action', cardNumber: '4000002500003155' });
  advance(runner);
  advance(runner, 'cancel');

  pay(runner, { scenario: 'async', paymentMethodType: 'bank_debit', cardNumber: null });
  advance(runner);

  pay(runner, { scenario: ['decline:insufficient_funds', 'approve'], cardNumber: '4000000000009995' });
  advance(runner);
  advance(runner);
}

/** Advances to the next timer of a payment: the payout day, or the expiry of its authorization. */
function wait(runner: ExampleRunner): void {
  runner.wait('payment', paymentDue, (row, due, context) =>
    firePayment({ ok: true, row, dispute: null, changes: [] }, due, context),
  );
}

function refund(runner: ExampleRunner, amount: bigint | null): void {
  runner.run(refundPayment, {
    paymentId: runner.last('payment'),
    amount,
    currency: null,
    reason: 'The customer sent the goods back',
    metadata: {},
  });
}

function runRefunds(runner: ExampleRunner): void {
  pay(runner, { scenario: 'refund_pending' });
  advance(runner);
  refund(runner, part);
  runner.run(advanceRefund, {
    id: runner.last('refund'),
    request: { by: 'action', action: 'cancel', params: null },
  });

  pay(runner, { scenario: 'refund_fails' });
  advance(runner);
  refund(runner, part);
}

function runDisputes(runner: ExampleRunner): void {
  const answer = (action: DisputeAction, evidence: Evidence = null) =>
    runner.run(advanceDispute, {
      id: runner.last('dispute'),
      request: { by: 'action', action, params: evidence },
    });
  const evidence = { receipt: 'Signed by the customer on delivery', tracking: 'EX123456789' };

  pay(runner, { scenario: 'dispute', cardNumber: '4000000000000259' });
  advance(runner);
  advance(runner, 'dispute', { reason: 'product_not_received' });
  answer('submit_evidence', evidence);
  answer('escalate');
  answer('submit_evidence');
  answer('win');

  pay(runner, { scenario: 'dispute', cardNumber: '4000000000000259' });
  advance(runner);
  advance(runner, 'dispute', { reason: 'product_not_received' });
  answer('submit_evidence', evidence);
  answer('lose');
}

function runTransfers(runner: ExampleRunner): void {
  const quote = (scenario = 'approve') => {
    runner.begin();
    runner.run(quoteTransfer, {
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      fixedSide: 'source',
      amount: 100_000n,
      fundFrom: 'external',
      customerId: runner.last('customer'),
      beneficiary: { name: 'Grace Example', country: 'US', account: '000123456789' },
      reference: 'invoice-2001',
      metadata: {},
      scenario,
      autoAdvance: false,
    });
  };
  const next = (steps: number) => {
    for (let step = 0; step < steps; step += 1)
      runner.run(advanceTransfer, { id: runner.last('transfer'), request: { by: 'next' } });
  };
  const act = (action: TransferAction) =>
    runner.run(advanceTransfer, {
      id: runner.last('transfer'),
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
  runner.wait('transfer', transferDue, (row, due, context, rows) =>
    fireTransfer({ ok: true, row, changes: [] }, due, context, rows),
  );
}

function runWebhooks(runner: ExampleRunner): void {
  runner.begin();
  runner.run(createWebhook, {
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
  runner.run(beginTest, { id: runner.last('webhook'), event: null, leaseUntil: startOfExamples });
  runner.run(disableFailingWebhook, {
    id: runner.last('webhook'),
    reason: 'gone',
    failingSince: startOfExamples,
  });
  runner.run(deleteWebhook, { id: runner.last('webhook') });
}
