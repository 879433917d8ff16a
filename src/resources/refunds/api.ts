import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { type Id, idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { allowedActions, requestableActions } from '../../kernel/machine.ts';
import { type Route, retrieveHandler, searchHandler } from '../../kernel/route.ts';
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
  resource,
  searchQuery,
  strict,
  Time,
  text,
} from '../../kernel/schema.ts';
import { advanceRoute, writeRoute } from '../../kernel/write-route.ts';
import { ExpandedEntries } from '../ledger/views.ts';
import { type AdvanceRefund, advanceRefund, type RefundPayment, refundPayment } from './advance.ts';
import { refundMachine } from './machine.ts';
import { type RefundRow, refundStates, refundsTable, refundTexts } from './table.ts';

const RefundBody = strict({
  amount: Type.Optional(Amount),
  currency: Type.Optional(CurrencyCode),
  reason: Type.Optional(text(limits.reasonLengthMax)),
  metadata: Type.Optional(Metadata),
});

const AdvanceBody = Type.Union([
  strict({ action: Type.Enum(['succeed', 'fail', 'cancel']) }, component('RefundAdvanceAction')),
  strict({ to: Type.Enum([...refundStates]) }, component('RefundAdvanceToState')),
  AdvanceNext,
]);

const RefundSchema = resource('refund', refundMachine.states, {
  id: id('refund'),
  paymentId: id('payment'),
  amount: AmountShown,
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  reason: nullable(Type.String()),
  metadata: Metadata,
  allowedActions: Type.Array(Type.Enum([...requestableActions(refundMachine)])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
  endedAt: nullable(Time),
  ledgerEntries: ExpandedEntries,
});

function presentRefund(row: RefundRow): Presented {
  return {
    object: 'refund',
    sandbox: true,
    status: row.status,
    id: row.id,
    paymentId: row.paymentId,
    amount: Number(row.amount),
    currency: row.currency,
    reason: row.reason,
    metadata: row.metadata,
    allowedActions: allowedActions(refundMachine, row),
    version: row.version,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
    endedAt: row.endedAt === null ? null : instantToText(row.endedAt),
  };
}

export const refundResource: Resource<RefundRow> = {
  name: 'refund',
  table: refundsTable,
  machine: refundMachine,
  present: presentRefund,
  emitsEvents: true,
  schema: RefundSchema,
};

function refundInput(paymentId: Id<'payment'>, body: Static<typeof RefundBody>): RefundPayment {
  return {
    paymentId,
    amount: body.amount === undefined ? null : BigInt(body.amount),
    currency: body.currency ?? null,
    reason: body.reason ?? null,
    metadata: body.metadata ?? {},
  };
}

function advanceInput(body: Static<typeof AdvanceBody>): AdvanceRefund['request'] {
  if ('action' in body) return { by: 'action', action: body.action, params: null };
  return 'to' in body ? { by: 'to', to: body.to, params: null } : { by: 'next' };
}

const meta = { tag: 'Refunds', response: RefundSchema, responseName: 'Refund' } as const;

export const refundRoutes: readonly Route[] = [
  writeRoute({
    ...meta,
    operationId: 'refundPayment',
    method: 'POST',
    path: 'developer_api_payments/{id}/refund',
    scope: 'payments:write',
    summary: 'Refund a payment in full or in part, until no refundable amount is left',
    body: RefundBody,
    bodyName: 'PaymentRefund',
    isBodyOptional: true,
    expandsEntries: true,
    target: 'payment',
    command: refundPayment,
    input: ({ params, body }) => refundInput(idFrom('payment', params.id), body),
  }),
  {
    ...meta,
    operationId: 'listRefunds',
    method: 'GET',
    path: 'developer_api_refunds',
    scope: 'payments:read',
    summary: 'List refunds, newest first',
    query: listQuery(refundMachine.states, {
      paymentId: idQuery('payment'),
      ...amountQuery,
      ...searchQuery(refundTexts),
    }),
    response: list(RefundSchema),
    responseName: 'RefundList',
    read: searchHandler(refundResource, refundTexts, ['status', 'paymentId']),
  },
  {
    ...meta,
    operationId: 'retrieveRefund',
    method: 'GET',
    path: 'developer_api_refunds/{id}',
    scope: 'payments:read',
    summary: 'Retrieve a refund',
    read: retrieveHandler('refund', refundsTable, presentRefund),
  },
  advanceRoute({
    ...meta,
    operationId: 'advanceRefund',
    path: 'developer_api_refunds/{id}/advance',
    scope: 'payments:write',
    summary: 'End a pending refund: it succeeds, fails or is canceled',
    body: AdvanceBody,
    bodyName: 'RefundAdvance',
    target: 'refund',
    command: advanceRefund,
    request: advanceInput,
  }),
];
