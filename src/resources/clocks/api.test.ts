import { describe, expect, test } from 'vitest';
import { autoAdvanceChains } from '../../../test/model/auto-advance-chains.ts';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import type { Effect } from '../clocks/machine.ts';
import type { PaymentRow } from '../payments/table.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const day = 86_400 * second;
const week = 7 * day;
const text = (instant: number) => new Date(instant).toISOString();

function created(runner: CommandRunner, body: object = {}): Body {
  return expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
}

function authorized(runner: CommandRunner): Body {
  return expectOk(runner.post(`${payments}/${created(runner).id}/advance`, { action: 'authorize' }));
}

function goTo(runner: CommandRunner, instant: number): Body & { readonly happened: readonly Effect[] } {
  const body = expectOk(runner.post('developer_api_clock/advance', { to: text(instant) }));
  return body as Body & { happened: readonly Effect[] };
}

/** The effects of a request according to the history. */
function effectsOf({ written: { history, events } }: CommandRunner, requestId: string): readonly Effect[] {
  return history
    .filter((row) => row.requestId === requestId && row.resource !== 'clock')
    .map(({ at, resource, resourceId, action, fromStatus, toStatus, eventId }) => ({
      ...{ at: text(at), type: resource, id: resourceId, action },
      ...(fromStatus === null ? {} : { from: fromStatus }),
      ...{ to: toStatus, event: events.find(({ id }) => id === eventId)?.type ?? '' },
    }));
}

describe('an advance', () => {
  test('fires timers that it creates in the order of all timers, and reports every step', () => {
    const runner = new CommandRunner({ now: start });
    expectOk(runner.post('developer_api_clock/freeze'));
    const ids: string[] = [];
    for (const seconds of [0, 5, 30, 70]) {
      goTo(runner, start + seconds * second);
      ids.push(authorized(runner).id);
    }
    goTo(runner, start + week - 10 * second);
    const scenario = ['decline:insufficient_funds', 'require_action'];
    const autoAdvancing = created(runner, { autoAdvance: true, scenario });
    const { requestId, happened } = goTo(runner, start + week + 2 * day);
    const at = (seconds: number) => text(start + week + seconds * second);
    expect(happened.map((one) => [one.at, one.id, one.action])).toEqual([
      [at(-9), autoAdvancing.id, 'fail'],
      [at(0), ids[0], 'expire'],
      [at(5), ids[1], 'expire'],
      [at(30), ids[2], 'expire'],
      [at(51), autoAdvancing.id, 'retry'],
      [at(52), autoAdvancing.id, 'require_action'],
      [at(62), autoAdvancing.id, 'capture'],
      [at(70), ids[3], 'expire'],
      ['2031-03-12T06:00:00.000Z', autoAdvancing.id, 'settle'],
    ]);
    expect(effectsOf(runner, requestId)).toEqual(happened);
  });

  test('fires 1,200 authorizations and 100 chains as an independent calculation orders them', () => {
    const runner = new CommandRunner({ now: start });
    const expected: string[] = [];
    for (let i = 0; i < 1_200; i += 1) {
      runner.wallNow += 125;
      const { id, authorizationExpiresAt } = authorized(runner);
      expected.push(`${authorizationExpiresAt} ${id} expire`);
    }
    // The chains are spread over the same minutes.
    goTo(runner, start + week - 60 * second);
    expectOk(runner.post('developer_api_clock/freeze'));
    for (let i = 0; i < 100; i += 1) {
      const [scenario, steps = []] = autoAdvanceChains[i % autoAdvanceChains.length] ?? [];
      const { id } = created(runner, { autoAdvance: true, scenario });
      for (const [seconds, action] of steps)
        expected.push(`${text(runner.now + seconds * second)} ${id} ${action}`);
      if (steps.at(-1)?.[1] === 'capture') expected.push(`2031-03-12T06:00:00.000Z ${id} settle`);
    }
    const { happened, requestId } = goTo(runner, start + week + 2 * day);
    expect(happened.map(({ at, id, action }) => `${at} ${id} ${action}`)).toEqual(expected.toSorted());
    expect(effectsOf(runner, requestId)).toEqual(happened);
    const statuses = runner.rows<PaymentRow>('payment').map(({ status }) => status);
    const count = (status: string) => statuses.filter((one) => one === status).length;
    expect([count('expired'), count('failed'), count('settled')]).toEqual([1_200, 20, 80]);
    expect(runner.timers).toEqual({});
  });
});

describe('a clock', () => {
  test('that runs fires timers at their due instants, even late', () => {
    const runner = new CommandRunner({ now: start });
    const hold = authorized(runner);
    const autoAdvancing = created(runner, { autoAdvance: true, scenario: 'require_action' });
    const statuses = () => [hold, autoAdvancing].map(({ id }) => runner.show(id).status);
    runner.advance(0);
    expect(statuses()).toEqual(['authorized', 'pending']);
    runner.advance(10_999);
    expect(statuses()).toEqual(['authorized', 'requires_action']);
    runner.advance(30 * day);
    expect(runner.show(hold.id)).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
    const moves = runner.written.history.filter(({ resourceId }) => resourceId === autoAdvancing.id);
    expect(moves.map(({ action, at }) => [action, text(at)])).toEqual([
      ['create', text(start)],
      ['require_action', text(start + second)],
      ['capture', text(start + 11 * second)],
      ['settle', '2031-03-05T06:00:00.000Z'],
    ]);
  });

  test('that is ahead fires timers by its own time', () => {
    const runner = new CommandRunner({ now: start });
    goTo(runner, start + day);
    const { id } = authorized(runner);
    runner.advance(week - 1);
    expect(runner.show(id).status).toBe('authorized');
    runner.advance(1);
    expect(runner.show(id).expiredAt).toBe(text(start + day + week));
  });

  test('that is frozen fires no timer, however late, until it is reset', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = authorized(runner);
    expectOk(runner.post('developer_api_clock/freeze'));
    runner.advance(365 * day);
    expect(runner.show(id)).toMatchObject({ status: 'authorized', version: 2 });
    expectOk(runner.post('developer_api_clock/reset'));
    runner.advance(0);
    expect(runner.show(id)).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
  });
});
