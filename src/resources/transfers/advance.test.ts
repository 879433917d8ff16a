import { describe, expect, it } from 'vitest';
import { defaultApplicationSettings } from '../../kernel/application-settings.ts';
import type { CommandContext, LoadedRows } from '../../kernel/command.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { fireTransfer, transferReads } from './advance.ts';
import type { TransferAction } from './machine.ts';
import { stepDelaysMs, transferDue } from './scenario.ts';
import { type TransferRow, transferStates } from './table.ts';

const start = Date.parse('2026-11-15T09:30:00.000Z');
const second = 1_000;

const row = (more: Partial<TransferRow> = {}): TransferRow => ({
  orgId: formatId('organization', '1'),
  id: formatId('transfer', '1'),
  appId: formatId('application', '1'),
  status: 'quoted',
  version: 1,
  sourceCurrency: 'EUR',
  targetCurrency: 'USD',
  sourceAmount: 10_000n,
  targetAmount: 12_500n,
  feeAmount: 50n,
  fixedSide: 'source',
  rate: '1.25',
  midMarketRate: '1.25',
  marginBasisPoints: 0,
  fundFrom: 'external',
  provider: 'tidewater',
  customerId: null,
  beneficiary: { name: 'Grace' },
  reference: null,
  metadata: {},
  scenario: 'approve',
  autoAdvance: true,
  failureCode: null,
  returnCode: null,
  sends: 0,
  reconciliation: null,
  expiresAt: start + limits.quoteMinutes * 60 * second,
  instants: {},
  createdAt: start,
  updatedAt: start,
  ...more,
});

const fundingExpiresAt = start + 24 * 3_600 * second;

function context(now: number): CommandContext {
  return {
    orgId: formatId('organization', '1'),
    appId: formatId('application', '1'),
    actor: { kind: 'system', id: 'timers' },
    requestId: formatId('request', '1'),
    ip: null,
    settings: defaultApplicationSettings,
    now,
    wallNow: now,
    suffix: '1',
  };
}

const rows = (available: bigint): LoadedRows => ({
  get: () => undefined,
  balance: () => -available,
});

describe('the next timer of a transfer', () => {
  it.each<[string, Partial<TransferRow>, string, number]>([
    ['a quote, to be accepted', {}, 'accept', 1],
    ['a quote without a beneficiary, to expire', { beneficiary: null }, 'expire', 1_800],
    ['a quote about to expire, to expire and not to be accepted', { expiresAt: start + second }, 'expire', 1],
    ['an accepted one, to be funded', { status: 'accepted', instants: { fundingExpiresAt } }, 'fund', 1],
    ['a funded one, to be converted', { status: 'funded' }, 'convert', 1],
    ['a funded one, to be reviewed', { status: 'funded', scenario: 'review' }, 'review', 1],
    [
      'a reviewed one, to be converted',
      { status: 'funded', scenario: 'review', instants: { reviewedAt: start } },
      'convert',
      1,
    ],
    ['one in review, to be released', { status: 'in_review', scenario: 'review' }, 'release', 60],
    ['one in review, to be rejected', { status: 'in_review', scenario: 'reject' }, 'reject', 60],
    ['a converted one, to be sent', { status: 'converted' }, 'send', 1],
    ['a converted one, to fail', { status: 'converted', scenario: 'fail:X' }, 'fail', 1],
    ['a sent one, to complete', { status: 'sent', sends: 1 }, 'complete', 3_600],
    ['a sent one, to be returned', { status: 'sent', sends: 1, scenario: 'return:X' }, 'return', 3_600],
    [
      'one that was sent again, to complete',
      { status: 'sent', sends: 2, scenario: ['return:X', 'approve'] },
      'complete',
      3_600,
    ],
  ])('%s', (_what, more, action, seconds) => {
    expect(transferDue(row(more))).toEqual({ action, at: start + seconds * second });
  });

  it('does not exist for a final transfer, or without autoAdvance and a deadline', () => {
    for (const status of ['completed', 'returned', 'refunded', 'canceled', 'expired', 'failed'] as const)
      expect(transferDue(row({ status }))).toBeNull();
    for (const status of ['funded', 'in_review', 'converted', 'sent'] as const)
      expect(transferDue(row({ status, autoAdvance: false }))).toBeNull();
  });

  it('is its deadline without autoAdvance', () => {
    const manual = { autoAdvance: false, instants: { fundingExpiresAt } };
    expect(transferDue(row(manual))).toEqual({ action: 'expire', at: row().expiresAt });
    expect(transferDue(row({ ...manual, status: 'accepted' }))).toEqual({
      action: 'expire',
      at: fundingExpiresAt,
    });
  });

  it('has a delay for every automatic step', () => {
    const scenarios = ['approve', 'review', 'reject', 'return:X', 'fail:X'];
    const steps = scenarios.flatMap((scenario) =>
      transferStates.map(
        (status) => transferDue(row({ status, scenario, instants: { fundingExpiresAt } }))?.action,
      ),
    );
    expect(new Set(steps.filter((step) => step !== undefined))).toEqual(new Set(Object.keys(stepDelaysMs)));
  });
});

describe('firing', () => {
  const fire = (of: TransferRow, action: TransferAction, at: number, available = 0n) =>
    fireTransfer({ ok: true, row: of, changes: [] }, { action, at }, context(at), rows(available));

  it('applies the step at the given instant', () => {
    const { row: after, changes } = fire(row(), 'accept', start + second);
    expect(after).toMatchObject({ status: 'accepted', version: 2, updatedAt: start + second });
    expect(changes.map(({ event }) => event)).toEqual(['transfer.accepted']);
  });

  it('funds from a balance that covers it, and fails with the reason when it does not', () => {
    const poor = row({ status: 'accepted', fundFrom: 'balance', instants: { fundingExpiresAt } });
    const fired = (available: bigint) => fire(poor, 'fund', start, available).row;
    expect(fired(10_050n)).toMatchObject({ status: 'funded', failureCode: null });
    expect(fired(10_049n)).toMatchObject({ status: 'failed', failureCode: 'insufficient_funds' });
    expect(fired(10_049n).instants).not.toHaveProperty('fundedAt');
  });

  it('expires a quote that is accepted too late', () => {
    const { row: after } = fire(row(), 'accept', row().expiresAt);
    expect(after.status).toBe('expired');
  });

  it('throws for a step that the state does not allow, because that is a bug', () => {
    expect(() => fire(row(), 'send', start)).toThrow('send is due for a transfer');
  });
});

describe('the additional reads of a transfer', () => {
  it('are the balance and the lock for spending it, if the transfer is funded from the balance', () => {
    expect(transferReads(row())).toEqual([]);
    expect(transferReads(undefined)).toEqual([]);
    expect(transferReads(row({ fundFrom: 'balance' }))).toEqual([
      { resource: 'organization', id: formatId('organization', '1'), lock: 'update' },
      { balance: 'merchant_available', currency: 'EUR' },
    ]);
  });
});
