import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultApplicationSettings } from '../../kernel/application-settings.ts';
import type { Accepted, CommandContext, LoadedRows, StatefulRow } from '../../kernel/command.ts';
import { formatId, type Id, type IdKind } from '../../kernel/ids.ts';
import { clockIdOf } from '../../kernel/time.ts';
import type { DisputeRow } from '../disputes/table.ts';
import type { PaymentRow } from '../payments/table.ts';
import { type Effect, leaseMs, realClock } from './machine.ts';
import type { ClockRow } from './table.ts';
import { type FireTimers, fireTimers } from './timer-commands.ts';

const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const day = 86_400_000;
const week = 7 * day;
const orgId = formatId('organization', '1');
const appId = formatId('application', '01m7epxwjmf7za77rhky2f93cc');
const requestId = formatId('request', '1');
const payId = (id: string) => formatId('payment', id.replace('pay_', ''));

const zeros = { amountCapturable: 0n, amountHeld: 0n, amountCaptured: 0n, amountRefunded: 0n, feeAmount: 0n };
const pending: PaymentRow = {
  ...{ orgId, id: payId('pay_1'), appId, status: 'pending', version: 1, amount: 10_000n, currency: 'EUR' },
  ...{ ...zeros, amountRefundPending: 0n, amountDisputed: 0n, feeBasisPoints: 290, feeFixed: 30n },
  ...{ provider: 'meridian', captureMethod: 'automatic', paymentMethodType: 'card', metadata: {} },
  ...{ paymentMethodLastFour: null, customerId: null, description: null, reference: null, failureCode: null },
  ...{ scenario: 'approve', autoAdvance: false, attempts: [], disputeId: null, reconciliation: null },
  ...{ instants: {}, createdAt: start, updatedAt: start },
};

const autoAdvancing = (id: string, more: Partial<PaymentRow> = {}): PaymentRow => ({
  ...pending,
  id: payId(id),
  autoAdvance: true,
  ...more,
});
const held = (id: string, authorizedAt = start): PaymentRow => ({
  ...pending,
  id: payId(id),
  status: 'authorized',
  amountCapturable: 10_000n,
  amountHeld: 10_000n,
  instants: { authorizedAt, authorizationExpiresAt: authorizedAt + week },
  updatedAt: authorizedAt,
});
const disputed = (name: string, amount: bigint): readonly [PaymentRow, DisputeRow] => {
  const id = payId(name);
  const disputeId = formatId('dispute', id.replace('pay_', ''));
  const instants = { capturedAt: start, disputedAt: start };
  const payment: PaymentRow = {
    ...pending,
    ...{ id, status: 'disputed', amountCaptured: 10_000n, amountDisputed: amount, disputeId, instants },
  };
  const dispute: DisputeRow = {
    ...{ orgId, id: disputeId, appId, status: 'needs_response', version: 1, paymentId: id, amount },
    ...{ currency: 'EUR', reason: 'general', stage: 'chargeback', evidence: null, respondBy: start + week },
    ...{ closedAt: null, createdAt: start, updatedAt: start },
  };
  return [payment, dispute];
};

const running = realClock(orgId, appId, start);
const advancing = (to: number, turn = 1): ClockRow => ({
  ...running,
  version: 1,
  frozenAt: start,
  advance: { to, key: 'k', fingerprint: '', requestId, actorId: 'key_1', ip: null, turn },
  leaseUntil: start + leaseMs,
});

interface RoundResult {
  readonly decision: Accepted<unknown>;
  readonly happened: readonly Effect[];
  /** The effects in short: seconds since the start, record and action. */
  readonly steps: readonly (readonly [seconds: number, id: string, action: string])[];
  readonly timed: readonly string[];
}

interface RoundInput extends Partial<FireTimers> {
  readonly clock?: ClockRow;
  readonly now?: number;
  readonly wallNow?: number;
  readonly requestId?: Id<'request'>;
}

function decide(records: readonly StatefulRow[], round: RoundInput = {}) {
  const { clock = running, now = start + 365 * day, wallNow = start, ...more } = round;
  const rows = new Map<string, unknown>(records.map((row) => [row.id, row]));
  rows.set(clockIdOf(appId), clock.version === 0 ? undefined : clock);
  const loaded: LoadedRows = {
    get: <Row>(_kind: IdKind, id: string) => rows.get(id) as Row,
    balance: () => 0n,
  };
  const context: CommandContext = {
    ...{ orgId, appId, actor: { kind: 'system', id: 'clock' }, ip: null },
    ...{ settings: defaultApplicationSettings, now, wallNow, suffix: 's' },
    requestId: round.requestId ?? requestId,
  };
  const stepsMax = round.stepsMax ?? 1_000;
  const input: FireTimers = {
    timers: records.map(({ id }) => ({ resource: id.startsWith('dsp') ? 'dispute' : 'payment', id })),
    until: start + 365 * day,
    turn: null,
    suffixes: Array.from({ length: stepsMax }, (_, i) => String(i)),
    ...more,
    stepsMax,
  };
  return fireTimers.decide(input, context, loaded);
}

function fire(records: readonly StatefulRow[], round: RoundInput = {}): RoundResult {
  const decision = decide(records, round);
  if (!decision.ok) throw new Error(decision.code);
  const happened = decision.result.happened;
  const timed = (decision.timed ?? []).map(({ row }) => row.id);
  const steps = happened.map(
    ({ at, id, action }) => [(Date.parse(at) - start) / second, id, action] as const,
  );
  return { decision, happened, timed, steps };
}

const weekSeconds = week / second;
/** 06:00 of the next day. */
const payout = 20 * 3_600;

describe('a round of timers', () => {
  it('fires in the order of due times, regardless of the input order', () => {
    const records = [held('pay_c', start + 3), held('pay_a', start + 1), held('pay_b', start + 2)];
    const expected = [1, 2, 3].map((ms, i) => [weekSeconds + ms / 1_000, `pay_${'abc'[i]}`, 'expire']);
    expect(fire(records).steps).toEqual(expected);
    expect(fire(records.toReversed()).steps).toEqual(expected);
  });

  it('fires timers of the same instant in the order of ids', () => {
    const records = ['pay_2', 'pay_9', 'pay_1', 'pay_4'].map((id) => held(id));
    expect(fire(records).steps.map(([, id]) => id)).toEqual(['pay_1', 'pay_2', 'pay_4', 'pay_9']);
  });

  it('reports of each step when it was due, which record moved, how, and which event it emitted', () => {
    expect(fire([held('pay_1')]).happened).toEqual([
      {
        at: '2031-03-11T10:00:00.000Z',
        type: 'payment',
        id: 'pay_1',
        action: 'expire',
        from: 'authorized',
        to: 'expired',
        event: 'payment.expired',
      },
    ]);
  });

  it('inserts steps that it schedules in the order of all steps', () => {
    const records = [
      autoAdvancing('pay_w', { scenario: ['decline:do_not_honor', 'async'] }),
      held('pay_a', start - week + 30 * second),
      held('pay_b', start - week + 61 * second),
      held('pay_c', start - week + 100 * second),
    ];
    expect(fire(records).steps).toEqual([
      [1, 'pay_w', 'fail'],
      [30, 'pay_a', 'expire'],
      [61, 'pay_b', 'expire'],
      [61, 'pay_w', 'retry'],
      [62, 'pay_w', 'process'],
      [100, 'pay_c', 'expire'],
      [122, 'pay_w', 'capture'],
      [payout, 'pay_w', 'settle'],
    ]);
  });

  it('fires the timers of records that it creates', () => {
    const { steps, happened } = fire([autoAdvancing('pay_1', { scenario: 'dispute' })]);
    const lost = 3_601 + weekSeconds;
    expect(steps).toEqual([
      [1, 'pay_1', 'capture'],
      [3_601, 'dsp_1', 'create'],
      [3_601, 'pay_1', 'dispute'],
      [lost, 'dsp_1', 'expire'],
      [lost, 'pay_1', 'dispute_lost'],
    ]);
    expect(happened.at(1)).not.toHaveProperty('from');
    expect(happened.at(-1)?.to).toBe('charged_back');
  });

  it('gives each record that it creates its own id', () => {
    const records = ['pay_1', 'pay_2', 'pay_3'].map((id) => autoAdvancing(id, { scenario: 'dispute' }));
    const ids = fire(records)
      .steps.filter(([, , action]) => action === 'create')
      .map(([, id]) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it('moves the payment together with its dispute, then fires the next timer of the payment', () => {
    const [payment, dispute] = disputed('pay_1', 2_500n);
    expect(fire([dispute, payment]).steps).toEqual([
      [weekSeconds, 'dsp_1', 'expire'],
      [weekSeconds, 'pay_1', 'dispute_lost'],
      [weekSeconds + payout, 'pay_1', 'settle'],
    ]);
  });

  it('reads the payment of a dispute before it fires, and locks the rows that it moves', () => {
    const [payment, dispute] = disputed('pay_1', 10_000n);
    const input = { timers: [{ resource: 'dispute', id: 'dsp_1' }], turn: null } as unknown as FireTimers;
    const request = { appId } as CommandContext;
    const clock = (lock: string) => ({ resource: 'clock', id: clockIdOf(appId), lock });
    const own = { resource: 'dispute', id: 'dsp_1', lock: 'update' };
    expect(fireTimers.reads(input, request)).toEqual([clock('share'), own]);
    expect(fireTimers.reads({ ...input, turn: 1 }, request)).toEqual([clock('update'), own]);
    const found = { get: <Row>() => dispute as Row };
    expect(fireTimers.thenReads?.(input, found)).toEqual([
      { resource: 'payment', id: payment.id, lock: 'update' },
    ]);
    expect(fireTimers.thenReads?.(input, { get: () => undefined })).toEqual([]);
  });

  it('runs at most `stepsMax` steps', () => {
    const records = [
      autoAdvancing('pay_1', { scenario: 'require_action' }),
      held('pay_2', start - week + 5 * second),
    ];
    const whole = fire(records).steps;
    expect(whole).toHaveLength(4);
    for (let stepsMax = 0; stepsMax <= 5; stepsMax += 1)
      expect(fire(records, { stepsMax }).steps).toEqual(whole.slice(0, stepsMax));
  });

  it.each<[what: string, round: RoundInput]>([
    ['the end of the round', { until: start + 11 * second }],
    ['the time of a clock that runs', { now: start + 11 * second }],
    ['the target of the advance', { clock: advancing(start + 11 * second), turn: 1 }],
  ])('fires timers that are due at %s, and none that are due later', (_what, round) => {
    const records = [autoAdvancing('pay_1', { scenario: 'require_action' }), held('pay_2')];
    expect(fire(records, round).steps).toEqual([
      [1, 'pay_1', 'require_action'],
      [11, 'pay_1', 'capture'],
    ]);
  });

  it('returns the records that turned out not to be due, so that their timers are rewritten', () => {
    const ended: PaymentRow = { ...pending, id: payId('pay_ended'), status: 'canceled' };
    const { steps, timed } = fire([held('pay_late'), ended, autoAdvancing('pay_1')], {
      until: start + second,
    });
    expect(steps).toEqual([[1, 'pay_1', 'capture']]);
    expect(timed).toEqual(['pay_late', 'pay_ended']);
  });

  it('skips a missing record', () => {
    const timers = [
      { resource: 'payment', id: 'pay_gone' },
      { resource: 'payment', id: 'pay_1' },
    ];
    expect(fire([held('pay_1')], { timers }).steps.map(([, id]) => id)).toEqual(['pay_1']);
  });

  it('returns the same result for the same records', () => {
    const records = [autoAdvancing('pay_1', { scenario: 'dispute' }), held('pay_2')];
    expect(decide(records)).toEqual(decide(records));
  });
});

describe('during an advance', () => {
  const to = start + 2 * week;

  it('a round moves the clock to its last step and renews the lease', () => {
    const round = { clock: advancing(to), turn: 1, wallNow: start + 5 * second };
    const { decision, happened } = fire([held('pay_1'), autoAdvancing('pay_2')], {
      ...round,
      until: start + week,
    });
    expect(decision.changes.at(-1)).toMatchObject({
      resource: 'clock',
      action: 'advance',
      row: {
        version: 2,
        frozenAt: start + week,
        leaseUntil: start + 5 * second + leaseMs,
        updatedAt: start + 5 * second,
      },
    });
    // The clock itself is not among the effects.
    expect(happened.map(({ type }) => type)).not.toContain('clock');
  });

  it('a round without effects does not move the clock', () => {
    const clock = advancing(to);
    const { decision } = fire([held('pay_1')], { clock, turn: 1, until: start });
    expect(decision.changes).toMatchObject([{ resource: 'clock', row: { frozenAt: start } }]);
  });

  it('the clock never goes back, even if a step is late', () => {
    const clock = { ...advancing(to), frozenAt: start + week + day };
    const { decision } = fire([held('pay_1')], { clock, turn: 1 });
    expect(decision.changes.at(-1)?.row).toMatchObject({ frozenAt: start + week + day });
  });

  it.each<[what: string, round: RoundInput]>([
    ['a superseded process', { clock: advancing(to, 2), turn: 1 }],
    ['a turn that has not started', { clock: advancing(to, 1), turn: 2 }],
    ['another request', { clock: advancing(to), turn: 1, requestId: formatId('request', '2') }],
    ['an advance that has finished', { clock: running, turn: 1 }],
  ])('%s fires nothing and is refused', (_what, round) => {
    expect(decide([held('pay_1')], round)).toMatchObject({ ok: false, code: 'clock_advancing' });
  });

  it('nothing is fired in the background', () => {
    const { decision, steps, timed } = fire([held('pay_1')], { clock: advancing(to) });
    expect([decision.changes, steps, timed]).toEqual([[], [], []]);
  });
});

describe('many steps in one round', () => {
  const scenario = fc.constantFrom<PaymentRow['scenario']>(
    ...['approve', 'require_action', 'async', 'dispute', 'capture_fails', 'decline:lost_card'],
    ['decline:do_not_honor', 'async'],
  );
  const record = fc.oneof(
    fc.record({
      kind: fc.constant('autoAdvancing' as const),
      scenario,
      ms: fc.integer({ min: 0, max: 90_000 }),
    }),
    fc.record({ kind: fc.constant('held' as const), scenario, ms: fc.integer({ min: 0, max: 90_000 }) }),
  );

  it('have the same result as one round per step', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 12 }), (some) => {
        const records = some.map(({ kind, scenario: name, ms }, i): PaymentRow => {
          const id = `pay_${String(i).padStart(3, '0')}`;
          if (kind === 'held') return held(id, start - week + ms);
          return autoAdvancing(id, { scenario: name, createdAt: start + ms, updatedAt: start + ms });
        });
        const whole = fire(records).steps;
        const rows = new Map<string, StatefulRow>(records.map((row) => [row.id, row]));
        const alone: (typeof whole)[number][] = [];
        for (let i = 0; i < whole.length + 1; i += 1) {
          const { steps, decision } = fire([...rows.values()], { stepsMax: 1, suffixes: [String(i)] });
          for (const { row } of decision.changes) rows.set(row.id, row);
          alone.push(...steps);
        }
        expect(alone).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });
});
