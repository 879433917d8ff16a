import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import {
  failureDescription,
  reasonCodePattern,
  returnReasons,
  transferFailures,
} from '../../kernel/decline.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { reconciliations } from '../../kernel/ledger.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstants } from '../../kernel/list.ts';
import { allowedActions, requestableActions } from '../../kernel/machine.ts';
import { type Route, retrieveHandler, searchHandler } from '../../kernel/route.ts';
import { transferScenarioPattern } from '../../kernel/scenario.ts';
import {
  AdvanceNext,
  Amount,
  AmountShown,
  CurrencyCode,
  component,
  exactlyOne,
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
import { type AdvanceTransfer, advanceTransfer } from './advance.ts';
import {
  noTransferParams,
  type QuoteTransfer,
  quoteTransfer,
  shownQuote,
  type TransferParams,
  transferMachine,
} from './machine.ts';
import { transferDue } from './scenario.ts';
import {
  type Beneficiary,
  fundingSources,
  type TransferRow,
  transferInstantNames,
  transferStates,
  transfersTable,
  transferTexts,
} from './table.ts';

const ScenarioName = Type.String({
  pattern: transferScenarioPattern,
  description: 'A transfer scenario; `return:` and `fail:` are followed by any code.',
});

const Scenario = Type.Union(
  [ScenarioName, Type.Array(ScenarioName, { minItems: 1, maxItems: limits.scenarioListMax })],
  {
    description:
      'What the simulated provider will do: one name, or a list with one entry for each time the transfer is sent.',
  },
);

const BeneficiaryBody = strict(
  {
    name: text(limits.nameLengthMax),
    country: Type.Optional(
      Type.String({ pattern: '^[A-Za-z]{2}$', description: 'Two-letter ISO 3166 code, such as DE.' }),
    ),
    account: Type.Optional(text(limits.beneficiaryAccountLengthMax)),
  },
  component('BeneficiaryInput'),
);

const quoteDefaults = { fundFrom: 'external', autoAdvance: false } as const;

const QuoteBody = strict(
  {
    sourceCurrency: CurrencyCode,
    targetCurrency: CurrencyCode,
    sourceAmount: Type.Optional(Amount),
    targetAmount: Type.Optional(Amount),
    customerId: Type.Optional(id('customer')),
    beneficiary: Type.Optional(BeneficiaryBody),
    fundFrom: Type.Optional(Type.Enum([...fundingSources], { default: quoteDefaults.fundFrom })),
    reference: Type.Optional(text(limits.referenceLengthMax)),
    metadata: Type.Optional(Metadata),
    scenario: Type.Optional(Scenario),
    autoAdvance: Type.Optional(Type.Boolean({ default: quoteDefaults.autoAdvance })),
  },
  exactlyOne('sourceAmount', 'targetAmount'),
);

const ReasonCode = Type.String({
  pattern: `^${reasonCodePattern}$`,
  description: 'One to 40 letters, digits and underscores.',
});
/** Lists the known codes for typed clients; a provider may have others. */
const TransferFailureCode = Type.Union([Type.Enum(Object.keys(transferFailures)), ReasonCode]);
const ReturnCode = Type.Union([Type.Enum(Object.keys(returnReasons)), ReasonCode]);
const beneficiary = { beneficiary: Type.Optional(BeneficiaryBody) } as const;
const returnCode = { returnCode: Type.Optional(ReasonCode) } as const;
const failureCode = { failureCode: Type.Optional(ReasonCode) } as const;

/** One variant for each way to advance. With `to`, each step on the path uses the fields that apply to it. */
const AdvanceBody = Type.Union([
  strict({ action: Type.Literal('accept'), ...beneficiary }, component('TransferAdvanceAccept')),
  strict({ action: Type.Literal('return'), ...returnCode }, component('TransferAdvanceReturn')),
  strict({ action: Type.Literal('fail'), ...failureCode }, component('TransferAdvanceFail')),
  strict(
    {
      action: Type.Enum([
        'requote',
        'fund',
        'review',
        'release',
        'reject',
        'convert',
        'send',
        'complete',
        'resend',
        'refund',
        'cancel',
        'expire',
      ]),
    },
    component('TransferAdvanceAction'),
  ),
  strict(
    { to: Type.Enum(['returned', 'refunded']), ...beneficiary, ...returnCode },
    component('TransferAdvanceToReturned'),
  ),
  strict(
    { to: Type.Literal('failed'), ...beneficiary, ...failureCode },
    component('TransferAdvanceToFailed'),
  ),
  strict({ to: Type.Enum([...transferStates]), ...beneficiary }, component('TransferAdvanceToState')),
  AdvanceNext,
]);

const Rate = Type.String({
  pattern: '^\\d+(\\.\\d{1,12})?$',
  description: 'Decimal number as text, such as 1.0825.',
});
const Code = Type.String({ pattern: '^[A-Z]{3}$' });

const TransferSchema = resource('transfer', transferMachine.states, {
  id: id('transfer'),
  sourceCurrency: Code,
  targetCurrency: Code,
  sourceAmount: AmountShown,
  targetAmount: AmountShown,
  feeAmount: AmountShown,
  totalAmount: AmountShown,
  rate: Rate,
  inverseRate: Rate,
  midMarketRate: Rate,
  marginBasisPoints: Type.Integer({ minimum: 0, maximum: limits.fxMarginMax }),
  fundFrom: Type.Enum([...fundingSources]),
  customerId: nullable(id('customer')),
  beneficiary: nullable(
    Type.Object(
      {
        name: Type.String(),
        country: Type.Optional(Type.String()),
        account: Type.Optional(Type.String()),
      },
      component('Beneficiary'),
    ),
  ),
  reference: nullable(Type.String()),
  metadata: Metadata,
  scenario: Scenario,
  autoAdvance: Type.Boolean(),
  failure: nullable(
    Type.Object(
      { code: TransferFailureCode, message: Type.String(), retryable: Type.Literal(false) },
      component('TransferFailure'),
    ),
  ),
  returnCode: nullable(ReturnCode),
  expiresAt: Time,
  allowedActions: Type.Array(Type.Enum([...requestableActions(transferMachine)])),
  reconciliation: nullable(Type.Enum([...reconciliations])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
  ...Object.fromEntries(transferInstantNames.map((name) => [name, Type.Optional(Time)])),
  ledgerEntries: ExpandedEntries,
});

/** Restores the field order, which `jsonb` does not preserve. */
function presentBeneficiary({ name, country, account }: Beneficiary): Beneficiary {
  return {
    name,
    ...(country === undefined ? {} : { country }),
    ...(account === undefined ? {} : { account }),
  };
}

function presentTransfer(row: TransferRow): Presented {
  const { totalAmount, inverseRate } = shownQuote(row);
  return {
    object: 'transfer',
    sandbox: true,
    status: row.status,
    id: row.id,
    sourceCurrency: row.sourceCurrency,
    targetCurrency: row.targetCurrency,
    sourceAmount: Number(row.sourceAmount),
    targetAmount: Number(row.targetAmount),
    feeAmount: Number(row.feeAmount),
    totalAmount: Number(totalAmount),
    rate: row.rate,
    inverseRate,
    midMarketRate: row.midMarketRate,
    marginBasisPoints: row.marginBasisPoints,
    fundFrom: row.fundFrom,
    customerId: row.customerId,
    beneficiary: row.beneficiary === null ? null : presentBeneficiary(row.beneficiary),
    reference: row.reference,
    metadata: row.metadata,
    scenario: row.scenario,
    autoAdvance: row.autoAdvance,
    failure:
      row.failureCode === null
        ? null
        : { code: row.failureCode, message: failureDescription(row.failureCode), retryable: false },
    returnCode: row.returnCode,
    expiresAt: instantToText(row.expiresAt),
    allowedActions: allowedActions(transferMachine, row),
    reconciliation: row.reconciliation,
    version: row.version,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
    ...shownInstants(transferInstantNames, row.instants),
  };
}

export const transferResource: Resource<TransferRow> = {
  name: 'transfer',
  table: transfersTable,
  machine: transferMachine,
  present: presentTransfer,
  emitsEvents: true,
  schema: TransferSchema,
  due: transferDue,
};

function quoteInput(body: Static<typeof QuoteBody>): QuoteTransfer {
  const isSource = body.sourceAmount !== undefined;
  return {
    sourceCurrency: body.sourceCurrency,
    targetCurrency: body.targetCurrency,
    fixedSide: isSource ? 'source' : 'target',
    amount: BigInt(body.sourceAmount ?? body.targetAmount ?? 0),
    fundFrom: body.fundFrom ?? quoteDefaults.fundFrom,
    customerId: body.customerId ?? null,
    beneficiary: body.beneficiary === undefined ? null : normalizedBeneficiary(body.beneficiary),
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    scenario: body.scenario ?? 'approve',
    autoAdvance: body.autoAdvance ?? quoteDefaults.autoAdvance,
  };
}

function normalizedBeneficiary(body: Static<typeof BeneficiaryBody>): Beneficiary {
  return body.country === undefined ? body : { ...body, country: body.country.toUpperCase() };
}

function advanceInput(body: Static<typeof AdvanceBody>): AdvanceTransfer['request'] {
  if (!('action' in body) && !('to' in body)) return { by: 'next' };
  const params: TransferParams = {
    ...noTransferParams,
    ...('beneficiary' in body && body.beneficiary !== undefined
      ? { beneficiary: normalizedBeneficiary(body.beneficiary) }
      : {}),
    ...('returnCode' in body && body.returnCode !== undefined ? { returnCode: body.returnCode } : {}),
    ...('failureCode' in body && body.failureCode !== undefined ? { failureCode: body.failureCode } : {}),
  };
  if ('action' in body) return { by: 'action', action: body.action, params };
  return { by: 'to', to: body.to, params };
}

const meta = { tag: 'Transfers', response: TransferSchema, responseName: 'Transfer' } as const;

export const transferRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listTransfers',
    method: 'GET',
    path: 'developer_api_transfers',
    scope: 'transfers:read',
    summary: 'List transfers, newest first',
    query: listQuery(transferMachine.states, {
      customerId: idQuery('customer'),
      reference: ReferenceQuery,
      ...searchQuery(transferTexts),
    }),
    response: list(TransferSchema),
    responseName: 'TransferList',
    read: searchHandler(transferResource, transferTexts, ['status', 'customerId', 'reference']),
  },
  writeRoute({
    ...meta,
    operationId: 'createTransfer',
    method: 'POST',
    path: 'developer_api_transfers',
    scope: 'transfers:write',
    summary: 'Quote a transfer: the amount to send or the amount to arrive, at a rate that is held',
    body: QuoteBody,
    bodyName: 'TransferCreate',
    target: null,
    command: quoteTransfer,
    input: ({ body }) => quoteInput(body),
  }),
  {
    ...meta,
    operationId: 'retrieveTransfer',
    method: 'GET',
    path: 'developer_api_transfers/{id}',
    scope: 'transfers:read',
    summary: 'Retrieve a transfer',
    read: retrieveHandler('transfer', transfersTable, presentTransfer),
  },
  advanceRoute({
    ...meta,
    operationId: 'advanceTransfer',
    path: 'developer_api_transfers/{id}/advance',
    scope: 'transfers:write',
    summary: 'Advance a transfer: by its scenario, by an `action`, or by the shortest way `to` a state',
    body: AdvanceBody,
    bodyName: 'TransferAdvance',
    target: 'transfer',
    command: advanceTransfer,
    request: advanceInput,
  }),
];
