import { describe, expect, test } from 'vitest';
import {
  actOnTransfer,
  allowedTransferActions,
  along,
  amounts,
  nextOfTransfer,
  providerEventsOf,
  type Transfer,
  type TransferEntry,
  type TransferParams,
  transferStates,
  transferTable,
  walkTransfer,
} from '../../../test/model/transfers.ts';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner } from '../../../test/support/command-runner.ts';
import { transferMachine } from './machine.ts';

const transfers = 'developer_api_transfers';
const payments = 'developer_api_payments';
const beneficiary = { name: 'Grace Hopper' };
const fx = { fxMarginBasisPoints: 0, fxRates: { 'EUR/USD': '1.25' } };

type Request = TransferParams & { readonly action?: string; readonly to?: string };

const requests: readonly Request[] = [
  {},
  ...Object.keys(transferTable).map((action) => ({ action })),
  { action: 'accept', beneficiary: { name: 'Ada' } },
  { action: 'return', returnCode: 'AC04' },
  { action: 'fail', failureCode: 'funding_failed' },
  ...transferStates.map((to) => ({ to })),
  { to: 'accepted', beneficiary: { name: 'Ada' } },
  { to: 'completed', beneficiary: { name: 'Ada' } },
  { to: 'returned', returnCode: 'AC04' },
  { to: 'refunded', returnCode: 'AC04' },
  { to: 'failed', failureCode: 'provider_error' },
];

/** A transfer after these actions. The second provider handles those that are funded from the balance. */
interface Situation {
  readonly name: string;
  readonly steps: readonly string[];
  readonly transfer: Transfer;
  readonly id: string;
  readonly runner: CommandRunner;
  readonly provider: 'tidewater' | 'meridian';
}

interface Create {
  readonly fundFrom?: 'balance';
  readonly scenario?: string | readonly string[];
  readonly hasNoBeneficiary?: true;
}

function situation(
  steps: readonly string[],
  { fundFrom, scenario, hasNoBeneficiary }: Create = {},
): Situation {
  const provider = fundFrom === 'balance' ? 'meridian' : 'tidewater';
  const runner = new CommandRunner({ settings: { ...fx, ...(fundFrom ? { provider } : {}) } });
  if (fundFrom === 'balance') earn(runner);
  const created: Transfer = {
    status: 'quoted',
    fundFrom: fundFrom ?? 'external',
    hasBeneficiary: hasNoBeneficiary !== true,
    scenario: scenario ?? 'approve',
    sends: 0,
    failureCode: null,
    returnCode: null,
    reconciliation: null,
    instants: [],
  };
  const reached = along(created, steps);
  if ('code' in reached) throw new Error(`${steps.join(', ')}: ${reached.code}`);
  const response = runner.post(transfers, {
    ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: amounts.source },
    ...(hasNoBeneficiary ? {} : { beneficiary }),
    ...(fundFrom ? { fundFrom } : {}),
    ...(scenario === undefined ? {} : { scenario }),
  });
  expect(response.status, response.text).toBe(201);
  const { id } = response.body;
  for (const action of steps) {
    const step = runner.post(`${transfers}/${id}/advance`, { action });
    expect(step.status, step.text).toBe(200);
  }
  const conditions = [fundFrom, scenario, hasNoBeneficiary ? 'without a beneficiary' : undefined].flat();
  const name = [reached.transfer.status, 'after', steps.join(', ') || 'create', ...conditions];
  return {
    name: name.filter((part) => part !== undefined).join(' '),
    ...{ steps, transfer: reached.transfer, id, runner, provider },
  };
}

/** Puts money on the merchant's balance. */
function earn(runner: CommandRunner): void {
  const { body } = runner.post(payments, { amount: 1_000_000, currency: 'EUR' });
  expect(runner.post(`${payments}/${body.id}/advance`, { to: 'settled' }).status).toBe(200);
}

const toFunded = ['accept', 'fund'];
const toSent = [...toFunded, 'convert', 'send'];
const ways: readonly (readonly string[])[] = [
  [],
  ['requote'],
  ['accept'],
  toFunded,
  [...toFunded, 'review'],
  [...toFunded, 'review', 'release'],
  [...toFunded, 'convert'],
  toSent,
  [...toSent, 'complete'],
  [...toSent, 'return'],
  [...toSent, 'complete', 'return'],
  [...toSent, 'return', 'resend'],
  [...toSent, 'complete', 'return', 'resend', 'complete'],
  [...toSent, 'return', 'refund'],
  ['cancel'],
  [...toFunded, 'cancel'],
  ['expire'],
  ['accept', 'expire'],
  ['accept', 'fail'],
  [...toFunded, 'review', 'reject'],
  [...toFunded, 'convert', 'fail'],
];
const scenarios = [
  ...['review', 'reject', 'fail:R99', 'return:R03', 'settle_short', 'settle_missing'],
  ...['settle_duplicate', 'settle_unknown'],
];
const scenarioSteps = [
  toFunded,
  [...toFunded, 'review'],
  [...toFunded, 'review', 'release'],
  toSent.slice(0, -1),
  toSent,
];

const situations: readonly Situation[] = [
  ...ways.map((steps) => situation(steps)),
  ...ways.map((steps) => situation(steps, { fundFrom: 'balance' })),
  situation([], { hasNoBeneficiary: true }),
  situation(['expire'], { hasNoBeneficiary: true }),
  ...scenarios.flatMap((scenario) => scenarioSteps.map((steps) => situation(steps, { scenario }))),
  situation([...toSent, 'return'], { scenario: ['return:R01', 'return:R02'] }),
  situation([...toSent, 'return', 'resend'], { scenario: ['return:R01', 'return:R02'] }),
  situation([...toSent, 'return', 'resend'], { scenario: ['return:R01', 'approve'] }),
];

describe('the matrix covers the transfer machine:', () => {
  test('the model has every state and every action that a caller can request', () => {
    expect([...transferMachine.states].sort()).toEqual(transferStates.toSorted());
    const named = transferMachine.moves.filter(({ from }) => from.length > 0);
    expect(new Set(named.map(({ action }) => action))).toEqual(new Set(Object.keys(transferTable)));
  });

  test('every action leads from the states that the machine names to the state that it names', () => {
    const ofMachine = transferMachine.moves.flatMap(({ action, from, to }) =>
      from.flatMap((state) => to.map((end) => `${state} ${action} ${end}`)),
    );
    const ofModel = Object.entries(transferTable).flatMap(([action, moves]) =>
      Object.entries(moves).map(([state, end]) => `${state} ${action} ${end}`),
    );
    expect(ofModel.sort()).toEqual(ofMachine.sort());
  });

  test.each(['external', 'balance'])('every state is reached with %s funding', (fundFrom) => {
    const some = situations.filter(({ transfer }) => transfer.fundFrom === fundFrom);
    expect(new Set(some.map(({ transfer }) => transfer.status))).toEqual(new Set(transferStates));
  });
});

test.each(situations)('a transfer $name: every request', (situation) => {
  for (const request of requests) {
    try {
      check(situation, request);
    } catch (error) {
      if (error instanceof Error) error.message = `${JSON.stringify(request)}: ${error.message}`;
      throw error;
    }
  }
});

function check({ transfer, id, runner: reached, provider }: Situation, request: Request): void {
  const runner = reached.fork();
  const { action, to, ...params } = request;
  const before = runner.show(id);
  const counts = countsOf(runner);
  expectTransfer(before, transfer);
  const expected =
    action !== undefined
      ? actOnTransfer(transfer, action, params)
      : to !== undefined
        ? walkTransfer(transfer, to, params)
        : nextOfTransfer(transfer);
  const response = runner.post(`${transfers}/${id}/advance`, request);
  const after = runner.show(id);
  if ('code' in expected) {
    expect(response.code, response.text).toBe(expected.code);
    if (expected.code === 'invalid_state_transition') {
      const requested = action === undefined ? (to === undefined ? {} : { to }) : { action };
      expect(response.body.error.details).toEqual({ status: transfer.status, ...requested });
      expect(response.body.error.allowedActions).toEqual(allowedTransferActions(transfer));
    }
    expect(after).toEqual(before);
    expect(countsOf(runner)).toEqual(counts);
    return;
  }
  expect(response.status, response.text).toBe(200);
  const { requestId: _requestId, ...shown } = response.body;
  expect(shown).toEqual(after);
  expectTransfer(after, expected.transfer);
  expect(after.version).toBe(Number(before.version) + expected.transitions.length);
  const { history, events, entries, providerEvents } = runner.written;
  const transitions = history.slice(counts.history).map((row, i) => {
    const event = events[counts.events + i];
    expect(row).toMatchObject({ resource: 'transfer', resourceId: id, eventId: event?.id });
    return {
      resource: row.resource,
      action: row.action,
      from: row.fromStatus,
      to: row.toStatus,
      event: event?.type,
    };
  });
  expect(transitions).toEqual(expected.transitions);
  expect(entries.slice(counts.entries).map(entryOf)).toEqual(expected.entries);
  const reported = providerEvents.slice(counts.providerEvents);
  expect(reported.map(({ outcome }) => outcome)).toEqual(providerEventsOf(expected.transitions, provider));
  for (const event of reported) expect(event).toMatchObject({ provider, transferId: id, paymentId: null });
  for (const field of ['id', 'scenario', 'fundFrom', 'metadata', 'createdAt'])
    expect(after[field], field).toEqual(before[field]);
}

function countsOf({ written: { history, events, entries, providerEvents } }: CommandRunner) {
  return {
    ...{ history: history.length, events: events.length },
    ...{ entries: entries.length, providerEvents: providerEvents.length },
  };
}

function expectTransfer(body: Body, transfer: Transfer): void {
  expect(body).toMatchObject({
    object: 'transfer',
    status: transfer.status,
    sourceAmount: amounts.source,
    targetAmount: amounts.target,
    feeAmount: amounts.fee,
    totalAmount: amounts.total,
    rate: '1.25',
    inverseRate: '0.8',
    midMarketRate: '1.25',
    fundFrom: transfer.fundFrom,
    returnCode: transfer.returnCode,
    reconciliation: transfer.reconciliation,
    allowedActions: allowedTransferActions(transfer),
  });
  expect((body.failure as { code: string } | null)?.code ?? null).toBe(transfer.failureCode);
  expect(body.beneficiary !== null).toBe(transfer.hasBeneficiary);
  const timestamps = Object.keys(body).filter((name) => /^(?!created|updated|expires).+At$/.test(name));
  expect(timestamps.sort()).toEqual(transfer.instants);
}

function entryOf(row: {
  readonly reason: string;
  readonly postings: readonly {
    readonly account: string;
    readonly currency: string;
    readonly amount: number;
  }[];
}): TransferEntry {
  const names = row.postings.map(({ account, currency }) => `${account} ${currency}`);
  expect(new Set(names).size, 'an account appears once in an entry').toBe(names.length);
  const postings = Object.fromEntries(row.postings.map(({ amount }, i) => [names[i], amount]));
  return { reason: row.reason, postings };
}
