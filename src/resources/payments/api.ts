import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { allowedActions } from '../../kernel/machine.ts';
import { listing, type Route, retrieving } from '../../kernel/route.ts';
import { paymentScenarios } from '../../kernel/scenario.ts';
import {
  Amount,
  AmountShown,
  CurrencyCode,
  id,
  list,
  listQuery,
  Metadata,
  nullable,
  resource,
  strict,
  Time,
  text,
} from '../../kernel/schema.ts';
import {
  type CreatePayment,
  captureMethods,
  createPayment,
  type PaymentRow,
  paymentMachine,
  paymentMethodTypes,
} from './machine.ts';
import { paymentsTable } from './store.ts';

const Scenario = Type.Union(
  [
    Type.Enum([...paymentScenarios]),
    Type.Array(Type.Enum([...paymentScenarios]), { minItems: 1, maxItems: limits.scenarioListMax }),
  ],
  { description: 'What the simulated provider will do: one name, or a list for successive attempts.' },
);

const CreateBody = strict({
  amount: Amount,
  currency: CurrencyCode,
  customerId: Type.Optional(id('customer')),
  captureMethod: Type.Optional(Type.Enum([...captureMethods], { default: 'automatic' })),
  paymentMethod: Type.Optional(strict({ type: Type.Enum([...paymentMethodTypes]) })),
  description: Type.Optional(text(limits.descriptionLengthMax)),
  reference: Type.Optional(text(limits.referenceLengthMax)),
  metadata: Type.Optional(Metadata),
  scenario: Type.Optional(Scenario),
  autoAdvance: Type.Optional(Type.Boolean({ default: false })),
});

const PaymentSchema = resource('payment', paymentMachine.states, {
  id: id('payment'),
  amount: AmountShown,
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  amountCapturable: AmountShown,
  amountCaptured: AmountShown,
  amountRefunded: AmountShown,
  amountDisputed: AmountShown,
  feeAmount: AmountShown,
  captureMethod: Type.Enum([...captureMethods]),
  paymentMethod: Type.Object({ type: Type.Enum([...paymentMethodTypes]) }),
  customerId: nullable(id('customer')),
  description: nullable(Type.String()),
  reference: nullable(Type.String()),
  metadata: Metadata,
  scenario: Scenario,
  autoAdvance: Type.Boolean(),
  failure: Type.Null(),
  allowedActions: Type.Array(Type.String()),
  reconciliation: Type.Null(),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
});

export function presentPayment(row: PaymentRow): Presented {
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
    amountDisputed: Number(row.amountDisputed),
    feeAmount: Number(row.feeAmount),
    captureMethod: row.captureMethod,
    paymentMethod: { type: row.paymentMethodType },
    customerId: row.customerId,
    description: row.description,
    reference: row.reference,
    metadata: row.metadata,
    scenario: row.scenario,
    autoAdvance: row.autoAdvance,
    failure: null,
    allowedActions: allowedActions(paymentMachine, row.status),
    reconciliation: null,
    version: row.version,
    createdAt,
    updatedAt: row.updatedAt === row.createdAt ? createdAt : instantToText(row.updatedAt),
  };
}

export const paymentResource: Resource<PaymentRow> = {
  name: 'payment',
  table: paymentsTable,
  machine: paymentMachine,
  present: presentPayment,
  emitsEvents: true,
};

function createInput(body: Static<typeof CreateBody>): CreatePayment {
  return {
    amount: BigInt(body.amount),
    currency: body.currency,
    customerId: body.customerId ?? null,
    captureMethod: body.captureMethod ?? 'automatic',
    paymentMethodType: body.paymentMethod?.type ?? 'card',
    description: body.description ?? null,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    scenario: body.scenario ?? 'approve',
    autoAdvance: body.autoAdvance ?? false,
  };
}

export const paymentRoutes: readonly Route[] = [
  {
    operationId: 'listPayments',
    method: 'GET',
    path: 'developer_api_payments',
    scope: 'payments:read',
    tag: 'Payments',
    summary: 'List payments, newest first',
    query: listQuery(paymentMachine.states, { customerId: Type.Optional(id('customer')) }),
    response: list(PaymentSchema),
    responseName: 'PaymentList',
    read: listing('payment', paymentsTable, ['status', 'customerId'], presentPayment),
  },
  {
    operationId: 'createPayment',
    method: 'POST',
    path: 'developer_api_payments',
    scope: 'payments:write',
    tag: 'Payments',
    summary: 'Create a payment',
    body: CreateBody,
    bodyName: 'PaymentCreate',
    response: PaymentSchema,
    responseName: 'Payment',
    command: createPayment,
    input: ({ body }) => createInput(body as Static<typeof CreateBody>),
  },
  {
    operationId: 'retrievePayment',
    method: 'GET',
    path: 'developer_api_payments/{id}',
    scope: 'payments:read',
    tag: 'Payments',
    summary: 'Retrieve a payment',
    response: PaymentSchema,
    responseName: 'Payment',
    read: retrieving('payment', paymentsTable, presentPayment),
  },
];
