import { describe, expect, it } from 'vitest';
import { type ProviderMove, receive } from '../kernel/provider.ts';
import { digitsOf } from './digits.ts';
import { providerNames, providers } from './index.ts';
import { meridian } from './meridian.ts';
import { tidewater } from './tidewater.ts';

const move = (more: Partial<ProviderMove> = {}): ProviderMove => ({
  provider: 'any',
  record: 'payment',
  recordId: 'pay_1',
  subjectId: 'pay_1',
  version: 2,
  action: 'capture',
  from: 'pending',
  to: 'captured',
  amount: 1_250n,
  currency: 'EUR',
  failureCode: null,
  causeId: null,
  at: Date.parse('2026-11-15T09:30:00.500Z'),
  ...more,
});

const moves: readonly ProviderMove[] = [
  move({ action: 'require_action', to: 'requires_action' }),
  move({ action: 'process', to: 'processing' }),
  move({ action: 'authorize', to: 'authorized' }),
  move(),
  move({ action: 'capture', from: 'authorized', version: 3 }),
  move({ action: 'settle', from: 'captured', to: 'settled', version: 4 }),
  move({ action: 'fail', to: 'failed', failureCode: 'lost_card' }),
  move({ action: 'cancel', to: 'canceled' }),
  move({ action: 'expire', to: 'expired' }),
  move({ action: 'refund', to: 'refunded', causeId: 'rfd_1' }),
  move({ action: 'refund_pending', to: 'captured', causeId: 'rfd_1' }),
  move({ action: 'refund_failed', to: 'captured', causeId: 'rfd_1' }),
  move({ action: 'refund_canceled', to: 'captured', causeId: 'rfd_1' }),
  move({ action: 'refund_succeeded', to: 'refunded', causeId: 'rfd_1' }),
  move({ action: 'dispute', to: 'disputed', causeId: 'dsp_1' }),
  move({ action: 'submit_evidence', subjectId: 'dsp_1', to: 'under_review', causeId: 'dsp_1' }),
  move({ action: 'escalate', subjectId: 'dsp_1', to: 'needs_response', causeId: 'dsp_1' }),
  move({ action: 'dispute_won', to: 'captured', causeId: 'dsp_1' }),
  move({ action: 'dispute_lost', to: 'charged_back', causeId: 'dsp_1' }),
];

/** The transfer transitions that involve the provider. */
const transferMoves: readonly ProviderMove[] = (
  [
    ['fund', 'accepted', 'funded'],
    ['convert', 'funded', 'converted'],
    ['send', 'converted', 'sent'],
    ['complete', 'sent', 'completed'],
    ['return', 'completed', 'returned'],
    ['resend', 'returned', 'sent'],
    ['refund', 'returned', 'refunded'],
    ['fail', 'converted', 'failed'],
    ['reject', 'in_review', 'failed'],
    ['cancel', 'funded', 'canceled'],
  ] as const
).map(([action, from, to]) =>
  move({ record: 'transfer', recordId: 'trf_1', subjectId: 'trf_1', version: 5, action, from, to }),
);

describe.each([...providers.values()].map((provider) => [provider.name, provider] as const))(
  '%s',
  (name, provider) => {
    it('is registered under its name', () => {
      expect(providerNames).toContain(name);
      expect(providers.get(name)).toBe(provider);
    });

    it.each(
      [...moves, ...transferMoves].map(
        (one) => [`${one.action} of a ${one.record} from ${one.from}`, one] as const,
      ),
    )('sends exactly one notice that applies for each transition: %s', (_name, one) => {
      const outcomes = receive(provider, provider.notices(one), one);
      expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(1);
      expect(outcomes.at(-1)).toBe('applied');
    });

    it('returns the same notices for the same transition', () => {
      for (const one of moves) expect(provider.notices(one)).toEqual(provider.notices(one));
    });

    it('has a distinct id for each record and each transition, which does not reveal our ids', () => {
      const subjects = Array.from({ length: 500 }, (_, i) =>
        ['pay_', 'rfd_', 'dsp_', 'trf_'].map((kind) => kind + i),
      );
      const ids = subjects.flat().map(provider.transactionId);
      expect(new Set(ids).size).toBe(ids.length);
      const events = Array.from({ length: 1_000 }, (_, i) => provider.eventId('pay_1', i + 1));
      expect(new Set(events).size).toBe(events.length);
      expect([...ids, ...events].filter((id) => /pay_|rfd_|dsp_|trf_/.test(id))).toEqual([]);
    });

    it('has a distinct name for each kind of transition', () => {
      const types = moves.map((one) => provider.notices(one).at(-1)?.type ?? '');
      for (const type of types) expect(type).toMatch(/^[A-Za-z_]+\.[A-Za-z_]+$/);
      expect(types[6]).not.toBe(types[3]);
    });

    it('has names for transfer transitions that payments do not use', () => {
      const typesOf = (some: readonly ProviderMove[]) =>
        new Set(some.map((one) => provider.notices(one).at(-1)?.type ?? ''));
      for (const type of typesOf(transferMoves)) {
        expect(type).toMatch(/^transfer\.[a-z_]+$/i);
        expect(typesOf(moves)).not.toContain(type);
      }
      // One provider uses the same name for send and resend; all others differ.
      expect(typesOf(transferMoves).size).toBeGreaterThanOrEqual(transferMoves.length - 1);
    });

    it('names the refund or dispute of a transition in addition to the payment', () => {
      const [notice] = provider.notices(move({ action: 'dispute', to: 'disputed', causeId: 'dsp_1' }));
      expect(notice?.transactionId).toBe(provider.transactionId('dsp_1'));
      expect(JSON.stringify(notice?.payload)).toContain(provider.transactionId('pay_1'));
    });
  },
);

describe('the two providers differ', () => {
  it('in ids, names and formats of amounts and times', () => {
    const [card] = meridian.notices(move());
    const [bank] = tidewater.notices(move());
    expect(card).toMatchObject({
      type: 'charge.captured',
      transactionId: expect.stringMatching(/^ch_[A-Za-z0-9]{20,24}$/),
      payload: { created: 1_794_735_000, data: { amount: 1_250, currency: 'eur' } },
    });
    expect(bank).toMatchObject({
      type: 'PAYMENT.BOOKED',
      transactionId: expect.stringMatching(/^TW\d{14}$/),
      payload: { Amt: { Ccy: 'EUR', Value: '12.50' } },
    });
  });

  it('in delivery: one is exact, the other sends duplicates and late messages', () => {
    const capture = move({ from: 'authorized', version: 3 });
    const settle = move({ action: 'settle', from: 'captured', to: 'settled', version: 4 });
    expect(receive(meridian, meridian.notices(capture), capture)).toEqual(['applied']);
    expect(receive(meridian, meridian.notices(settle), settle)).toEqual(['applied']);
    expect(receive(tidewater, tidewater.notices(capture), capture)).toEqual(['duplicate', 'applied']);
    expect(receive(tidewater, tidewater.notices(settle), settle)).toEqual(['ignored', 'applied']);
    const [order, arrival] = transferMoves.slice(2, 4).map((one, i) => ({ ...one, version: 5 + i }));
    if (!order || !arrival) throw new Error('a transfer must be sent before it completes');
    expect(receive(meridian, meridian.notices(arrival), arrival)).toEqual(['applied']);
    expect(receive(tidewater, tidewater.notices(arrival), arrival)).toEqual(['duplicate', 'applied']);
    expect(tidewater.notices(arrival)[0]).toEqual(tidewater.notices(order)[0]);
  });

  it.each([
    [1_250n, 'EUR', '12.50'],
    [5n, 'EUR', '0.05'],
    [100n, 'EUR', '1.00'],
    [1_250n, 'JPY', '1250'],
    [1_250n, 'KWD', '1.250'],
    [999_999_999_999n, 'USD', '9999999999.99'],
  ])('%d minor units of %s are %s at the bank', (amount, currency, text) => {
    const [notice] = tidewater.notices(move({ amount, currency }));
    expect(notice?.payload).toMatchObject({ Amt: { Ccy: currency, Value: text } });
  });
});

describe('digits', () => {
  it('depend on the text only, have the requested length, and differ between texts', () => {
    expect(digitsOf('a', 14)).toBe(digitsOf('a', 14));
    expect(digitsOf('a', 14)).not.toBe(digitsOf('b', 14));
    for (const length of [1, 14, 18, 20])
      expect(digitsOf('a', length)).toMatch(new RegExp(`^\\d{${length}}$`));
  });
});
