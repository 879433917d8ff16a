import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { declineCodes, findDecline } from '../../kernel/decline.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { idFrom } from '../../kernel/ids.ts';
import { reconciliations } from '../../kernel/ledger.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstants } from '../../kernel/list.ts';
import { allowedActions, requestableActions } from '../../kernel/machine.ts';
import { type Route, retrieveHandler, searchHandler } from '../../kernel/route.ts';
import { paymentScenarios, scenarioOf, testCards } from '../../kernel/scenario.ts';
import {
  AdvanceNext,
  Amount,
  AmountShown,
  amountQuery,
  CurrencyCode,
  component,
  id,
  idQuery,
  list,
  listQuery,
  Metadata,
  nullable,
  ReferenceQuery,
  resource,
  searchQuery,
  strict,
  Time,
  text,
} from '../../kernel/schema.ts';
import { advanceRoute, writeRoute } from '../../kernel/write-route.ts';
import { ExpandedEntries } from '../ledger/views.ts';
import { type AdvancePayment, advancePayment } from './advance.ts';
import { updatePayment } from './commands.ts';
import { attemptNumber, type CreatePayment, createPayment, paymentMachine, returnable } from './machine.ts';
import { type MoveParams, noParams, paymentDue } from './scenario.ts';
import {
  captureMethods,
  instantNames,
  type PaymentRow,
  paymentMethodTypes,
  paymentStates,
  paymentsTable,
  paymentTexts,
} from './table.ts';

const Scenario = Type.Union(
  [
    Type.Enum([...paymentScenarios]),
    Type.Array(Type.Enum([...paymentScenarios]), { minItems: 1, maxItems: limits.scenarioListMax }),
  ],
  { description: 'What the simulated provider will do: one name, or a list for successive attempts.' },
);

const createDefaults = { captureMethod: 'automatic', autoAdvance: false } as const;

const CreateBody = strict({
  amount: Amount,
  currency: CurrencyCode,
  customerId: Type.Optional(id('customer')),
  captureMethod: Type.Optional(Type.Enum([...captureMethods], { default: createDefaults.captureMethod })),
  paymentMethod: Type.Optional(
    strict({
      type: Type.Enum([...paymentMethodTypes]),
      number: Type.Optional(
        Type.Enum(Object.keys(testCards), {
          description:
            'A test card, which selects a scenario. No other number is accepted; only the last four digits are stored.',
        }),
      ),
    }),
  ),
  description: Type.Optional(text(limits.descriptionLengthMax)),
  reference: Type.Optional(text(limits.referenceLengthMax)),
  metadata: Type.Optional(Metadata),
  scenario: Type.Optional(Scenario),
  autoAdvance: Type.Optional(Type.Boolean({ default: createDefaults.autoAdvance })),
});

const UpdateBody = strict(
  {
    description: Type.Optional(nullable(text(limits.descriptionLengthMax))),
    metadata: Type.Optional(Metadata),
  },
  { minProperties: 1 },
);

const money = { amount: Type.Optional(Amount), currency: Type.Optional(CurrencyCode) } as const;
const FailureCode = Type.Enum([...declineCodes]);
const Reason = text(limits.reasonLengthMax);

/** One variant for each way to advance. An absent amount means the full remaining amount. */
const AdvanceBody = Type.Union([
  strict(
    { action: Type.Enum(['require_action', 'process', 'authorize', 'settle', 'retry', 'cancel', 'expire']) },
    component('PaymentAdvanceAction'),
  ),
  strict(
    {
      action: Type.Literal('capture'),
      ...money,
      final: Type.Optional(Type.Boolean({ default: noParams.isFinal })),
    },
    component('PaymentAdvanceCapture'),
  ),
  strict(
    { action: Type.Literal('fail'), failureCode: Type.Optional(FailureCode) },
    component('PaymentAdvanceFail'),
  ),
  strict(
    {
      action: Type.Literal('refund'),
      ...money,
      reason: Type.Optional(Reason),
      metadata: Type.Optional(Metadata),
    },
    component('PaymentAdvanceRefund'),
  ),
  strict(
    { action: Type.Literal('dispute'), ...money, reason: Type.Optional(Reason) },
    component('PaymentAdvanceDispute'),
  ),
  strict(
    { to: Type.Enum(['partially_captured', 'partially_refunded', 'disputed']), ...money },
    component('PaymentAdvanceToAmount'),
  ),
  strict(
    { to: Type.Literal('failed'), failureCode: Type.Optional(FailureCode) },
    component('PaymentAdvanceToFailed'),
  ),
  strict({ to: Type.Enum([...paymentStates]) }, component('PaymentAdvanceToState')),
  AdvanceNext,
]);

const Failure = Type.Object(
  {
    code: FailureCode,
    message: Type.String(),
    retryable: Type.Boolean({
      description: 'Whether the decline was soft, so that another attempt may succeed.',
    }),
  },
  component('PaymentFailure'),
);

const PaymentSchema = resource('payment', paymentMachine.states, {
  id: id('payment'),
  amount: AmountShown,
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  amountCapturable: AmountShown,
  amountCaptured: AmountShown,
  amountRefunded: AmountShown,
  amountRefundable: AmountShown,
  amountDisputed: AmountShown,
  feeAmount: AmountShown,
  captureMethod: Type.Enum([...captureMethods]),
  paymentMethod: Type.Object({
    type: Type.Enum([...paymentMethodTypes]),
    lastFour: Type.Optional(Type.String()),
  }),
  customerId: nullable(id('customer')),
  description: nullable(Type.String()),
  reference: nullable(Type.String()),
  metadata: Metadata,
  scenario: Scenario,
  autoAdvance: Type.Boolean(),
  failure: nullable(Failure),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer({ minimum: 1 }),
      scenario: Type.Enum([...paymentScenarios]),
      failure: nullable(Failure),
      failedAt: nullable(Time),
    }),
  ),
  disputeId: nullable(id('dispute')),
  allowedActions: Type.Array(Type.Enum([...requestableActions(paymentMachine)])),
  reconciliation: nullable(Type.Enum([...reconciliations])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
  ...Object.fromEntries(instantNames.map((name) => [name, Type.Optional(Time)])),
  ledgerEntries: ExpandedEntries,
});

function presentFailure(code: string) {
  const { description, isSoft } = findDecline(code);
  return { code, message: description, retryable: isSoft };
}

function presentAttempts(row: PaymentRow) {
  const failed = row.attempts.map(({ scenario, failureCode, failedAt }, i) => ({
    number: i + 1,
    scenario,
    failure: presentFailure(failureCode),
    failedAt: instantToText(failedAt),
  }));
  if (row.status === 'failed') return failed;
  const number = attemptNumber(row);
  return [...failed, { number, scenario: scenarioOf(row.scenario, number), failure: null, failedAt: null }];
}

function presentPayment(row: PaymentRow): Presented {
  const createdAt = instantToText(row.createdAt);
  return {
    object: 'payment',
    sandbox: true,
    status: row.status,
    id: row.id,
    amount: Number(row.amount),
    currency: row.currency,
    amountCapturable: Number(row.amountCapturable),
    amountCaptured: Number(row.amountCaptured),
    amountRefunded: Number(row.amountRefunded),
    amountRefundable: Number(returnable(row)),
    amountDisputed: Number(row.amountDisputed),
    feeAmount: Number(row.feeAmount),
    captureMethod: row.captureMethod,
    paymentMethod:
      row.paymentMethodLastFour === null
        ? { type: row.paymentMethodType }
        : { type: row.paymentMethodType, lastFour: row.paymentMethodLastFour },
    customerId: row.customerId,
    description: row.description,
    reference: row.reference,
    metadata: row.metadata,
    scenario: row.scenario,
    autoAdvance: row.autoAdvance,
    failure: row.failureCode === null ? null : presentFailure(row.failureCode),
    attempts: presentAttempts(row),
    disputeId: row.disputeId,
    allowedActions: allowedActions(paymentMachine, row),
    reconciliation: row.reconciliation,
    version: row.version,
    createdAt,
    updatedAt: row.updatedAt === row.createdAt ? createdAt : instantToText(row.updatedAt),
    ...shownInstants(instantNames, row.instants),
  };
}

export const paymentResource: Resource<PaymentRow> = {
  name: 'payment',
  table: paymentsTable,
  machine: paymentMachine,
  present: presentPayment,
  emitsEvents: true,
  schema: PaymentSchema,
  due: paymentDue,
};

function createInput(body: Static<typeof CreateBody>): CreatePayment {
  return {
    amount: BigInt(body.amount),
    currency: body.currency,
    customerId: body.customerId ?? null,
    captureMethod: body.captureMethod ?? createDefaults.captureMethod,
    paymentMethodType: body.paymentMethod?.type ?? 'card',
    cardNumber: body.paymentMethod?.number ?? null,
    description: body.description ?? null,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    scenario: body.scenario ?? null,
    autoAdvance: body.autoAdvance ?? createDefaults.autoAdvance,
  };
}

function advanceInput(body: Static<typeof AdvanceBody>): AdvancePayment['request'] {
  if (!('action' in body) && !('to' in body)) return { by: 'next' };
  const params: MoveParams = {
    ...noParams,
    ...('amount' in body && body.amount !== undefined ? { amount: BigInt(body.amount) } : {}),
    ...('currency' in body && body.currency !== undefined ? { currency: body.currency } : {}),
    ...('final' in body && body.final !== undefined ? { isFinal: body.final } : {}),
    ...('failureCode' in body && body.failureCode !== undefined ? { failureCode: body.failureCode } : {}),
    ...('reason' in body && body.reason !== undefined ? { reason: body.reason } : {}),
    ...('metadata' in body && body.metadata !== undefined ? { metadata: body.metadata } : {}),
  };
  if ('action' in body) return { by: 'action', action: body.action, params };
  return { by: 'to', to: body.to, params: { ...params, isPart: body.to.startsWith('partially_') } };
}

const meta = { tag: 'Payments', response: PaymentSchema, responseName: 'Payment' } as const;

export const paymentRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listPayments',
    method: 'GET',
    path: 'developer_api_payments',
    scope: 'payments:read',
    summary: 'List payments, newest first',
    query: listQuery(paymentMachine.states, {
      customerId: idQuery('customer'),
      reference: ReferenceQuery,
      ...amountQuery,
      ...searchQuery(paymentTexts),
    }),
    response: list(PaymentSchema),
    responseName: 'PaymentList',
    read: searchHandler(paymentResource, paymentTexts, ['status', 'customerId', 'reference']),
  },
  writeRoute({
    ...meta,
    operationId: 'createPayment',
    method: 'POST',
    path: 'developer_api_payments',
    scope: 'payments:write',
    summary: 'Create a payment',
    body: CreateBody,
    bodyName: 'PaymentCreate',
    target: null,
    command: createPayment,
    input: ({ body }) => createInput(body),
  }),
  {
    ...meta,
    operationId: 'retrievePayment',
    method: 'GET',
    path: 'developer_api_payments/{id}',
    scope: 'payments:read',
    summary: 'Retrieve a payment',
    read: retrieveHandler('payment', paymentsTable, presentPayment),
  },
  writeRoute({
    ...meta,
    operationId: 'updatePayment',
    method: 'POST',
    path: 'developer_api_payments/{id}/update',
    scope: 'payments:write',
    summary: 'Update the description or metadata of a payment in any state; null clears the description',
    body: UpdateBody,
    bodyName: 'PaymentUpdate',
    target: 'payment',
    command: updatePayment,
    input: ({ params, body }) => ({ id: idFrom('payment', params.id), fields: body }),
  }),
  advanceRoute({
    ...meta,
    operationId: 'advancePayment',
    path: 'developer_api_payments/{id}/advance',
    scope: 'payments:write',
    summary: 'Advance a payment: by its scenario, by an `action`, or by the shortest way `to` a state',
    body: AdvanceBody,
    bodyName: 'PaymentAdvance',
    target: 'payment',
    command: advancePayment,
    request: advanceInput,
  }),
];
