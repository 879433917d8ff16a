import type { Command } from 'commander';
import type {
  ListPaymentsQuery,
  Payment,
  PaymentAdvance,
  PaymentCreate,
  PaymentUpdate,
} from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { actionsText, fields } from '../layout.ts';
import { type AmountOptions, amountText, minorUnits } from '../money.ts';
import { type SearchOptions, searchOptions, showPage, withoutUndefined } from '../paging.ts';
import { amountOptions, paymentAmount } from '../payment-amount.ts';
import { wrongUsage } from '../problem.ts';
import { actionOrState, choice, currency, listOf, pairs } from '../reading.ts';
import { declareRefund } from './refunds.ts';
import { addTrail } from './trail.ts';

interface CreateOptions extends AmountOptions {
  readonly currency: string;
  readonly customer?: string;
  readonly capture?: 'automatic' | 'manual';
  readonly scenario?: readonly string[];
  readonly card?: string;
  readonly description?: string;
  readonly reference?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly autoAdvance?: true;
}

interface AdvanceOptions extends AmountOptions {
  readonly to?: string;
  readonly failureCode?: string;
}

interface UpdateOptions {
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly clear?: readonly string[];
}

const clearable = ['description', 'metadata'];

interface ListOptions extends SearchOptions {
  readonly status?: string;
  readonly customer?: string;
}

export function addPayments(program: Command): void {
  const payments = group(program, 'payments', 'Create payments and advance them through their lifecycle');
  addCreate(payments);
  addAdvance(payments);
  addUpdate(payments);
  declareRefund(payments, 'refund <id>', 'payments refund');
  addList(payments);
  addGet(payments);
  addTrail(payments, 'payments', 'pay_...');
}

function addCreate(payments: Command): void {
  declare<CreateOptions>(payments, 'create', {
    summary: 'Create a payment',
    details:
      '--amount takes major units and needs the dot, --minor takes minor units: 12.50 EUR is --amount 12.50 or --minor 1250, and 1250 JPY, which has no minor unit, is either.',
    options: [
      ...amountOptions,
      ['--currency <code>', 'ISO 4217 code', currency, 'EUR'],
      [
        '--scenario <names>',
        'behaviour of the simulated provider; a list applies to successive attempts',
        listOf(fieldValues.createPayment.scenario),
      ],
      ['--card <number>', 'test card, which selects a scenario', choice(...fieldValues.createPayment.number)],
      ['--capture <method>', 'automatic or manual', choice(...fieldValues.createPayment.captureMethod)],
      ['--auto-advance', 'advance automatically as the clock moves'],
      ['--customer <id>', 'customer that pays'],
      ['--description <text>', 'description for people'],
      ['--reference <text>', 'your own reference'],
      ['--metadata <name=value>', 'your own data; may be repeated', pairs],
    ],
    examples: [
      ['payments create --amount 12.50 --currency EUR'],
      [
        'payments create --minor 1250 --scenario decline:insufficient_funds,approve',
        'fails first, then succeeds',
      ],
      ['payments create --amount 80.00 --capture manual --metadata order=42 --json'],
    ],
    run: async (session, options) => {
      const { currency, customer, capture, scenario, card } = options;
      const amount = minorUnits(options, currency);
      if (amount === undefined)
        throw wrongUsage('--amount or --minor is missing: --amount 12.50, or --minor 1250.');
      const body = withoutUndefined({
        amount,
        currency,
        customerId: customer,
        captureMethod: capture,
        scenario: scenario?.length === 1 ? scenario[0] : scenario,
        paymentMethod: card === undefined ? undefined : { type: 'card', number: card },
        description: options.description,
        reference: options.reference,
        metadata: options.metadata,
        autoAdvance: options.autoAdvance,
      }) as PaymentCreate;
      const payment = await (await session.sandbank()).payments.create(body);
      session.out.show(payment, () => paymentText(payment));
      return undefined;
    },
  });
}

function addAdvance(payments: Command): void {
  declare<AdvanceOptions>(payments, 'advance <id> [action]', {
    summary: 'Advance a payment by scenario, by action or to a state',
    arguments: { action: choice(...fieldValues.advancePayment.action) },
    options: [
      ['--to <state>', 'take the shortest path to this state', choice(...fieldValues.advancePayment.to)],
      ...amountOptions,
      [
        '--failure-code <code>',
        'reason, with fail or --to failed',
        choice(...fieldValues.advancePayment.failureCode),
      ],
    ],
    examples: [
      ['payments advance pay_...', 'the next step of its scenario'],
      ['payments advance pay_... capture --amount 5.00'],
      ['payments advance pay_... --to settled'],
    ],
    run: async (session, options, id = '', action) => {
      const step = actionOrState(action, options.to);
      const sandbank = await session.sandbank();
      const amount = await paymentAmount(sandbank, id, options);
      const body = withoutUndefined({ ...step, amount, failureCode: options.failureCode }) as PaymentAdvance;
      const payment = await sandbank.payments.advance(id, body);
      session.out.show(payment, () => paymentText(payment));
      return undefined;
    },
  });
}

function addUpdate(payments: Command): void {
  declare<UpdateOptions>(payments, 'update <id>', {
    summary: 'Change the description or metadata of a payment',
    options: [
      ['--description <text>', 'new description'],
      ['--metadata <name=value>', 'replaces all metadata; may be repeated', pairs],
      ['--clear <fields>', `fields to clear: ${clearable.join(', ')}`, listOf(clearable)],
    ],
    examples: [
      ['payments update pay_... --metadata order=42'],
      ['payments update pay_... --clear description'],
    ],
    run: async (session, { description, metadata, clear = [] }, id = '') => {
      const body = {
        ...withoutUndefined({ description, metadata }),
        ...(clear.includes('description') ? { description: null } : {}),
        ...(clear.includes('metadata') ? { metadata: {} } : {}),
      } as PaymentUpdate;
      if (Object.keys(body).length === 0) throw wrongUsage('Pass at least one field to change.');
      const payment = await (await session.sandbank()).payments.update(id, body);
      session.out.show(payment, () => paymentText(payment));
      return undefined;
    },
  });
}

function addList(payments: Command): void {
  declare<ListOptions>(payments, 'list', {
    summary: 'List payments, newest first',
    options: [
      ['--status <state>', 'only payments in this state', choice(...fieldValues.listPayments.status)],
      ['--customer <id>', 'only of this customer'],
      ...searchOptions,
    ],
    examples: [['payments list --status captured --limit 5'], ["payments list --json | jq '.data[].id'"]],
    run: async (session, { status, customer, search: q, limit, cursor }) => {
      const query = withoutUndefined({ status, customerId: customer, q, limit, cursor }) as ListPaymentsQuery;
      const pages = (await session.sandbank()).payments.list(query);
      await showPage(session.out, pages, ['PAYMENT', 'STATUS', 'AMOUNT', 'CREATED'], (one) => [
        one.id,
        one.status,
        amountText(one.amount, one.currency),
        one.createdAt,
      ]);
      return undefined;
    },
  });
}

function addGet(payments: Command): void {
  declare(payments, 'get <id>', {
    summary: 'Show a payment',
    examples: [['payments get pay_...']],
    run: async (session, _options, id = '') => {
      const payment = await (await session.sandbank()).payments.retrieve(id);
      session.out.show(payment, () => paymentText(payment));
      return undefined;
    },
  });
}

function paymentText(payment: Payment): string {
  const {
    id,
    status,
    amount,
    currency,
    amountCaptured,
    amountRefunded,
    customerId,
    failure,
    allowedActions,
  } = payment;
  const part = (value: number) => (value === 0 ? undefined : amountText(value, currency));
  return fields([
    ['payment', id],
    ['status', status],
    ['amount', amountText(amount, currency)],
    ['captured', part(amountCaptured)],
    ['refunded', part(amountRefunded)],
    ['customer', customerId],
    ['failure', failure === null ? undefined : `${failure.code}: ${failure.message}`],
    ['actions', actionsText(allowedActions)],
  ]);
}
