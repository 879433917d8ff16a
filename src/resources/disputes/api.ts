import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { allowedActions, requestableActions } from '../../kernel/machine.ts';
import { type Route, retrieveHandler, searchHandler } from '../../kernel/route.ts';
import {
  AdvanceNext,
  AmountShown,
  amountQuery,
  component,
  id,
  idQuery,
  list,
  listQuery,
  nullable,
  resource,
  searchQuery,
  strict,
  Time,
  textMap,
} from '../../kernel/schema.ts';
import { advanceRoute } from '../../kernel/write-route.ts';
import { ExpandedEntries } from '../ledger/views.ts';
import { type AdvanceDispute, advanceDispute, disputeDue, disputeMachine } from './machine.ts';
import { type DisputeRow, disputeStages, disputeStates, disputesTable, disputeTexts } from './table.ts';

const EvidenceMap = textMap(
  'DisputeEvidence',
  limits.evidenceKeysMax,
  limits.metadataKeyLengthMax,
  limits.evidenceValueLengthMax,
  'Evidence for the merchant, under names that you choose.',
);

const AdvanceBody = Type.Union([
  strict(
    { action: Type.Literal('submit_evidence'), evidence: Type.Optional(EvidenceMap) },
    component('DisputeAdvanceSubmitEvidence'),
  ),
  strict(
    { action: Type.Enum(['accept', 'expire', 'win', 'lose', 'escalate']) },
    component('DisputeAdvanceAction'),
  ),
  strict({ to: Type.Enum([...disputeStates]) }, component('DisputeAdvanceToState')),
  AdvanceNext,
]);

const DisputeSchema = resource('dispute', disputeMachine.states, {
  id: id('dispute'),
  paymentId: id('payment'),
  amount: AmountShown,
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  reason: Type.String(),
  stage: Type.Enum([...disputeStages]),
  evidence: nullable(EvidenceMap),
  respondBy: Time,
  allowedActions: Type.Array(Type.Enum([...requestableActions(disputeMachine)])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
  closedAt: nullable(Time),
  ledgerEntries: ExpandedEntries,
});

function presentDispute(row: DisputeRow): Presented {
  return {
    object: 'dispute',
    sandbox: true,
    status: row.status,
    id: row.id,
    paymentId: row.paymentId,
    amount: Number(row.amount),
    currency: row.currency,
    reason: row.reason,
    stage: row.stage,
    evidence: row.evidence,
    respondBy: instantToText(row.respondBy),
    allowedActions: allowedActions(disputeMachine, row),
    version: row.version,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
    closedAt: row.closedAt === null ? null : instantToText(row.closedAt),
  };
}

export const disputeResource: Resource<DisputeRow> = {
  name: 'dispute',
  table: disputesTable,
  machine: disputeMachine,
  present: presentDispute,
  emitsEvents: true,
  schema: DisputeSchema,
  due: disputeDue,
};

function advanceInput(body: Static<typeof AdvanceBody>): AdvanceDispute['request'] {
  if ('to' in body) return { by: 'to', to: body.to, params: null };
  if (!('action' in body)) return { by: 'next' };
  const params = 'evidence' in body ? (body.evidence ?? null) : null;
  return { by: 'action', action: body.action, params };
}

const meta = { tag: 'Disputes', response: DisputeSchema, responseName: 'Dispute' } as const;

export const disputeRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listDisputes',
    method: 'GET',
    path: 'developer_api_disputes',
    scope: 'payments:read',
    summary: 'List disputes, newest first',
    query: listQuery(disputeMachine.states, {
      paymentId: idQuery('payment'),
      ...amountQuery,
      ...searchQuery(disputeTexts),
    }),
    response: list(DisputeSchema),
    responseName: 'DisputeList',
    read: searchHandler(disputeResource, disputeTexts, ['status', 'paymentId']),
  },
  {
    ...meta,
    operationId: 'retrieveDispute',
    method: 'GET',
    path: 'developer_api_disputes/{id}',
    scope: 'payments:read',
    summary: 'Retrieve a dispute',
    read: retrieveHandler('dispute', disputesTable, presentDispute),
  },
  advanceRoute({
    ...meta,
    operationId: 'advanceDispute',
    path: 'developer_api_disputes/{id}/advance',
    scope: 'payments:write',
    summary: 'Respond to a dispute, let it expire, or decide it',
    body: AdvanceBody,
    bodyName: 'DisputeAdvance',
    target: 'dispute',
    command: advanceDispute,
    request: advanceInput,
  }),
];
