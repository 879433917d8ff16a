import { describe, expect, it } from 'vitest';
import { declineCodes, declines, findDecline } from './decline.ts';
import {
  declineOf,
  magicAmounts,
  paymentScenarios,
  resolveScenario,
  scenarioDescriptions,
  scenarioOf,
  testCards,
} from './scenario.ts';

describe('scenarios', () => {
  it('are the names of the design and a decline for each code, none of them twice', () => {
    expect(Object.keys(scenarioDescriptions)).toEqual([
      ...['approve', 'require_action', 'async', 'capture_fails', 'refund_fails', 'refund_pending', 'dispute'],
      ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
    ]);
    expect(paymentScenarios).toHaveLength(11 + declineCodes.length);
    expect(new Set(paymentScenarios).size).toBe(paymentScenarios.length);
    expect(paymentScenarios).toContain('decline:insufficient_funds');
  });

  it('are declines only with a code that exists', () => {
    expect(declineOf('decline:lost_card')).toBe('lost_card');
    for (const other of ['approve', 'decline:', 'decline:nonsense', 'lost_card', 'Decline:lost_card']) {
      expect(declineOf(other)).toBeUndefined();
    }
  });

  it.each<[scenario: string | string[], attempt: number, expected: string]>([
    ['async', 1, 'async'],
    ['async', 3, 'async'],
    [['async', 'approve'], 1, 'async'],
    [['async', 'approve'], 2, 'approve'],
    [['async', 'approve'], 9, 'approve'],
    [[], 1, 'approve'],
  ])('of %j the attempt %d uses %s', (scenario, attempt, expected) => {
    expect(scenarioOf(scenario, attempt)).toBe(expected);
  });

  it('exist for every test card and every magic amount', () => {
    for (const scenario of [...Object.values(testCards), ...magicAmounts.values()]) {
      expect(paymentScenarios).toContain(scenario);
    }
    for (const number of Object.keys(testCards)) expect(number).toMatch(/^\d{15,16}$/);
  });

  it('by name win over a card, a card over an amount, and the default is approve', () => {
    const [card, amount] = ['4000000000000069', 999_000_051n];
    expect(resolveScenario('async', card, amount)).toBe('async');
    expect(resolveScenario(['async'], card, amount)).toEqual(['async']);
    expect(resolveScenario(null, card, amount)).toBe('decline:expired_card');
    expect(resolveScenario(null, null, amount)).toBe('decline:insufficient_funds');
    expect(resolveScenario(null, null, 1n)).toBe('approve');
  });
});

describe('decline codes', () => {
  it('have a description and are soft or hard', () => {
    for (const code of declineCodes) {
      expect(code).toMatch(/^[a-z_]+$/);
      expect(findDecline(code).description).toMatch(/^[A-Z].*\.$/);
    }
    expect(declines.insufficient_funds.isSoft).toBe(true);
    expect(declines.stolen_card.isSoft).toBe(false);
    expect(new Set(declineCodes.map((code) => findDecline(code).isSoft))).toEqual(new Set([true, false]));
  });

  it('that do not exist throw', () => {
    expect(() => findDecline('bad_luck')).toThrow('not a decline code');
  });
});
