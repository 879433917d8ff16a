import { describe, expect, test } from 'vitest';
import type { Change, RequestContext, Submission } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import type { Entry, ReconciledLine } from '../kernel/ledger.ts';
import type { Provider, ProviderMove } from '../kernel/provider.ts';
import {
  auditRow,
  balanceRows,
  eventRow,
  historyRow,
  ledgerEntryRows,
  providerEventRows,
  settlementLineRows,
} from './derive.ts';

const at = Date.UTC(2026, 0, 31, 23, 59);
const context = {
  ...{ orgId: 'org_1', appId: 'app_caller', actor: { kind: 'person', id: 'usr_1' }, requestId: 'req_1' },
  ...{ ip: '192.0.2.1', suffix: 'suffix' },
} as unknown as RequestContext;
const row = {
  ...{ orgId: formatId('organization', '1'), id: 'pay_1', appId: formatId('application', '1') },
  ...{ status: 'captured', version: 3, updatedAt: at },
};

function change(fields: Partial<Change> = {}): Change {
  return {
    ...{ resource: 'payment', action: 'capture', from: 'authorized', row, event: 'payment.captured' },
    ...{ emitsNoEvent: false, entries: [], providerMove: null, settlement: null, ...fields },
  };
}

/** A provider that sends each notice twice. */
const provider: Provider = {
  name: 'acquirer',
  transactionId: (subjectId) => `tx ${subjectId}`,
  eventId: (subjectId, version) => `${subjectId} ${version}`,
  notices: ({ subjectId, version, action }) =>
    ['first', 'again'].map((delivery) => ({
      ...{ eventId: `${subjectId} ${version}`, transactionId: `tx ${subjectId}`, type: action },
      ...{ payload: { delivery }, about: version },
    })),
};
const providers = new Map([[provider.name, provider]]);

/** Numbered suffixes. */
function suffixes(): () => string {
  let last = 0;
  return () => {
    last += 1;
    return String(last);
  };
}

const entry = (
  reason: Entry['reason'],
  ...amounts: [account: string, currency: string, amount: bigint][]
): Entry => ({
  reason,
  postings: amounts.map(([account, currency, amount]) => ({ account, currency, amount })),
});

test('the history names the transition, its actor and its time', () => {
  expect(historyRow(context, change(), formatId('event', '1'))).toEqual({
    ...{ orgId: 'org_1', resourceId: 'pay_1', version: 3, resource: 'payment', action: 'capture' },
    ...{ fromStatus: 'authorized', toStatus: 'captured', eventId: 'evt_1', actorKind: 'person' },
    ...{ actorId: 'usr_1', requestId: 'req_1', at },
  });
});

test('an event carries the version of its record as its sequence', () => {
  expect(eventRow(context, change(), formatId('event', '1'), formatId('application', '1'), '{}')).toEqual({
    ...{ orgId: 'org_1', id: 'evt_1', appId: 'app_1', type: 'payment.captured', resource: 'payment' },
    ...{ resourceId: 'pay_1', sequence: 3, requestId: 'req_1', data: '{}', createdAt: at },
  });
});

describe('an audit row', () => {
  const submission = {
    context,
    kind: { name: 'payments.capture' },
    wallNow: at + 1,
  } as unknown as Submission;

  test('of an accepted command names the record and the wall clock', () => {
    expect(auditRow(submission, { resource: 'payment', id: 'pay_1' }, null)).toEqual({
      ...{ orgId: 'org_1', id: 'aud_suffix', at: at + 1, actorKind: 'person', actorId: 'usr_1' },
      ...{ appId: 'app_caller', action: 'payments.capture', resource: 'payment', resourceId: 'pay_1' },
      ...{ requestId: 'req_1', ip: '192.0.2.1', outcome: 'accepted', code: null },
    });
  });

  test('of a refused command has the code, and no record when there is none', () => {
    expect(auditRow(submission, null, 'resource_not_found')).toMatchObject({
      ...{ resource: null, resourceId: null, outcome: 'refused', code: 'resource_not_found' },
    });
  });
});

describe('ledger entries', () => {
  const entries = [entry('capture', ['bank', 'EUR', 5n], ['sales', 'EUR', -5n]), entry('release')];

  test('have ids in order, and amounts as JSON numbers', () => {
    expect(ledgerEntryRows(context, change({ entries }), suffixes())).toEqual([
      {
        ...{ orgId: 'org_1', id: 'lge_1', paymentId: 'pay_1', transferId: null, recordVersion: 3 },
        ...{ reason: 'capture', requestId: 'req_1', createdAt: at },
        postings: [
          { account: 'bank', currency: 'EUR', amount: 5 },
          { account: 'sales', currency: 'EUR', amount: -5 },
        ],
      },
      expect.objectContaining({ id: 'lge_2', reason: 'release', postings: [] }),
    ]);
  });

  test('of a transfer belong to the transfer', () => {
    const [first] = ledgerEntryRows(context, change({ resource: 'transfer', entries }), suffixes());
    expect(first).toMatchObject({ paymentId: null, transferId: 'pay_1' });
  });
});

describe('the balances of a batch', () => {
  test('are one sum for each account and currency of an organization, sorted', () => {
    const other = { ...row, orgId: formatId('organization', '0') };
    const changes = [
      change({ entries: [entry('capture', ['sales', 'EUR', -5n], ['bank', 'EUR', 5n])] }),
      change({ entries: [entry('settle', ['bank', 'USD', 7n]), entry('refund', ['bank', 'EUR', 2n])] }),
      change({ row: other, entries: [entry('capture', ['bank', 'EUR', 100n])] }),
    ];
    expect(balanceRows(changes)).toEqual([
      { orgId: 'org_0', account: 'bank', currency: 'EUR', balance: 100n },
      { orgId: 'org_1', account: 'bank', currency: 'EUR', balance: 7n },
      { orgId: 'org_1', account: 'bank', currency: 'USD', balance: 7n },
      { orgId: 'org_1', account: 'sales', currency: 'EUR', balance: -5n },
    ]);
  });

  test('are empty without entries', () => {
    expect(balanceRows([change()])).toEqual([]);
  });
});

describe('provider events', () => {
  const move: ProviderMove = {
    ...{ provider: 'acquirer', record: 'payment', recordId: 'pay_1', subjectId: 'pay_1', version: 3 },
    ...{ action: 'capture', from: 'authorized', to: 'captured', amount: 5n, currency: 'EUR' },
    ...{ failureCode: null, causeId: null, at: at + 2 },
  };

  test('are empty for a change that does not concern the provider', () => {
    expect(providerEventRows(context, change(), providers, suffixes())).toEqual([]);
  });

  test('are the notices of the provider with their outcomes', () => {
    const rows = providerEventRows(context, change({ providerMove: move }), providers, suffixes());
    expect(rows).toEqual([
      {
        ...{ orgId: 'org_1', id: 'pev_1', paymentId: 'pay_1', transferId: null, provider: 'acquirer' },
        ...{ providerTransactionId: 'tx pay_1', providerEventId: 'pay_1 3', type: 'capture' },
        ...{ payload: '{"delivery":"first"}', outcome: 'applied', action: 'capture' },
        ...{ requestId: 'req_1', receivedAt: at + 2 },
      },
      expect.objectContaining({ id: 'pev_2', payload: '{"delivery":"again"}', outcome: 'duplicate' }),
    ]);
  });

  test('of a transfer belong to the transfer', () => {
    const providerMove: ProviderMove = {
      ...move,
      record: 'transfer',
      recordId: 'trf_1',
      to: 'sent',
      action: 'send',
    };
    for (const { paymentId, transferId } of providerEventRows(
      context,
      change({ providerMove }),
      providers,
      suffixes(),
    ))
      expect([paymentId, transferId]).toEqual([null, 'trf_1']);
  });

  test('of an unknown provider are a bug', () => {
    const providerMove = { ...move, provider: 'nobody' };
    expect(() => providerEventRows(context, change({ providerMove }), providers, suffixes())).toThrow(
      'nobody',
    );
  });
});

describe('the lines of a settlement report', () => {
  const movement = { recordId: 'pay_1', provider: 'acquirer', currency: 'EUR', gross: 5n, fee: 1n };
  const matched: ReconciledLine = {
    ...{ subject: 'pay_1', isOfRecord: true, result: 'matched' },
    ...{ ledger: { gross: 5n, fee: 1n }, reported: { gross: 4n, fee: 2n } },
  };
  const rowsOf = (lines: readonly ReconciledLine[], fields: Partial<Change> = {}) =>
    settlementLineRows(
      context,
      change({ settlement: { movement, lines, result: 'matched' }, ...fields }),
      providers,
      suffixes(),
    );

  test('are empty for a change that settles nothing', () => {
    expect(rowsOf([], { settlement: null })).toEqual([]);
  });

  test('have the amounts of the ledger and of the provider, on the day of the change', () => {
    expect(rowsOf([matched])).toEqual([
      {
        ...{ orgId: 'org_1', id: 'stl_1', appId: 'app_1', settledOn: '2026-01-31', provider: 'acquirer' },
        ...{ paymentId: 'pay_1', transferId: null, currency: 'EUR', ledgerGross: 5n, ledgerFee: 1n },
        ...{ gross: 4n, fee: 2n, result: 'matched', requestId: 'req_1', createdAt: at },
        providerTransactionId: 'tx pay_1',
      },
    ]);
    expect(rowsOf([matched], { resource: 'transfer' })[0]).toMatchObject({
      paymentId: null,
      transferId: 'pay_1',
    });
  });

  test('omit the amounts that the ledger or the provider lacks', () => {
    const [missing, unknown] = rowsOf([
      { ...matched, reported: null, result: 'missing_at_provider' },
      { ...matched, subject: 'unknown', isOfRecord: false, ledger: null, result: 'missing_in_ledger' },
    ]);
    expect(missing).toMatchObject({
      id: 'stl_1',
      paymentId: 'pay_1',
      ledgerGross: 5n,
      gross: null,
      fee: null,
    });
    expect(unknown).toMatchObject({
      id: 'stl_2',
      paymentId: null,
      ledgerGross: null,
      ledgerFee: null,
      gross: 4n,
    });
  });

  test('of an unknown provider are a bug', () => {
    const settlement = {
      movement: { ...movement, provider: 'nobody' },
      lines: [],
      result: 'matched',
    } as const;
    expect(() => rowsOf([], { settlement })).toThrow('nobody');
  });
});
