import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, type Response } from '../../../test/support/command-runner.ts';
import { limits } from '../../kernel/limits.ts';
import { clockIdOf } from '../../kernel/time.ts';
import { beginAdvance, finishAdvance, leaseMs, resumeAdvance } from './machine.ts';
import type { ClockRow } from './table.ts';

const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const secondsMax = limits.clockAheadDaysMax * 86_400;
const text = (instant: number) => new Date(instant).toISOString();

type By = { readonly seconds: number } | { readonly to: string };

type Kind = 'advance' | 'freeze' | 'resume' | 'reset';

function send(runner: CommandRunner, what: Kind, body: unknown = {}): Response {
  return runner.post(`developer_api_clock/${what}`, body);
}

function moved(runner: CommandRunner, what: Kind, body: unknown = {}): Body {
  const response = send(runner, what, body);
  expect(response.status, response.text).toBe(200);
  return response.body;
}

function authorized(runner: CommandRunner): Body {
  const { body } = runner.post('developer_api_payments', { amount: 10_000, currency: 'EUR' });
  return runner.post(`developer_api_payments/${body.id}/advance`, { action: 'authorize' }).body;
}

function createdAt(runner: CommandRunner): string {
  return runner.post('developer_api_payments', { amount: 100, currency: 'EUR' }).body.createdAt;
}

/** Every position that a clock can be in. Clock and real time are at `start` unless the moves change them. */
interface Position {
  readonly name: string;
  readonly status: 'running' | 'frozen';
  /** How far the clock is ahead of real time. */
  readonly aheadMs: number;
  readonly runner: () => CommandRunner;
}

function position(name: string, status: Position['status'], aheadMs: number, ...moves: Move[]): Position {
  const runner = () => {
    const created = new CommandRunner({ now: start });
    for (const move of moves) {
      if (typeof move === 'number') created.wallNow += move;
      else if (typeof move === 'string') moved(created, move);
      else moved(created, 'advance', move);
    }
    return created;
  };
  return { name, status, aheadMs, runner };
}

/** Real time that passes, a freeze or reset, or an advance. */
type Move = number | 'freeze' | 'resume' | 'reset' | By;

const positions: readonly Position[] = [
  position('never moved', 'running', 0),
  position('ahead', 'running', 7 * day, { seconds: 604_800 }),
  position('ahead by two advances', 'running', 30 * second, { seconds: 10 }, second, { seconds: 20 }),
  position('frozen', 'frozen', 0, 'freeze'),
  position('frozen and passed by real time', 'frozen', -90 * second, 'freeze', 90 * second),
  position('frozen ahead', 'frozen', hour - 5 * second, { seconds: 3_600 }, 'freeze', 5 * second),
  position('frozen and then advanced', 'frozen', hour, 'freeze', { seconds: 3_600 }),
  position('frozen a day ago and advanced', 'frozen', 5 * second - day, 'freeze', day, { seconds: 5 }),
  position('reset after it was ahead', 'running', 0, { seconds: 3_600 }, second, 'reset'),
  position('reset after it was frozen', 'running', 0, 'freeze', hour, 'reset'),
  position('resumed an hour after it was frozen', 'running', -hour, 'freeze', hour, 'resume'),
  position(
    'resumed after it was frozen and advanced',
    'running',
    hour,
    'freeze',
    { seconds: 3_600 },
    'resume',
  ),
  position('resumed while it runs', 'running', hour, { seconds: 3_600 }, 'resume'),
];

describe.each(positions)('a clock that is $name', ({ status, aheadMs, runner: open }) => {
  const shown = (runner: CommandRunner, ahead: number, state: string = status) => ({
    status: state,
    now: text(runner.wallNow + ahead),
    offsetSeconds: Math.round(ahead / second),
  });

  test('shows its time, which passes only while it runs', () => {
    const runner = open();
    expect(runner.clock).toEqual(shown(runner, aheadMs));
    expect(createdAt(runner)).toBe(runner.clock.now);
    runner.wallNow += 1_500;
    expect(runner.clock).toEqual(shown(runner, status === 'frozen' ? aheadMs - 1_500 : aheadMs));
    expect(createdAt(runner)).toBe(runner.clock.now);
  });

  test('is frozen where it is, also a second time', () => {
    const runner = open();
    const before = runner.clock.now;
    for (let times = 0; times < 2; times += 1) {
      const ahead = Date.parse(before) - runner.wallNow;
      const { requestId: _requestId, ...body } = moved(runner, 'freeze');
      expect(body).toEqual({ object: 'clock', sandbox: true, ...shown(runner, ahead, 'frozen') });
      runner.wallNow += 60_000;
      expect(runner.clock.now).toBe(before);
    }
  });

  test('returns to real time with a reset', () => {
    const runner = open();
    runner.wallNow += 60_000;
    const real = { status: 'running', now: text(runner.wallNow), offsetSeconds: 0 };
    expect(moved(runner, 'reset')).toMatchObject(real);
    expect(runner.clock).toEqual(real);
    runner.wallNow += 1_000;
    expect(createdAt(runner)).toBe(text(runner.wallNow));
  });

  test.each<[what: string, by: (now: number) => By, ms: number]>([
    ['by one second', () => ({ seconds: 1 }), second],
    ['by seven days', () => ({ seconds: 604_800 }), 7 * day],
    ['to a time', (now) => ({ to: text(now + 250) }), 250],
    ['to a time without milliseconds', (now) => ({ to: text(now + day).replace('.000', '') }), day],
    ['to a time of another zone', (now) => ({ to: text(now + day + 2 * hour).replace('Z', '+02:00') }), day],
    ['to where it is', (now) => ({ to: text(now) }), 0],
  ])('advances %s and then continues in the same mode', (_what, by, ms) => {
    const runner = open();
    const before = runner.now;
    const { requestId: _requestId, ...body } = moved(runner, 'advance', by(before));
    const ahead = before + ms - runner.wallNow;
    const envelope = { object: 'clock', sandbox: true, complete: true, next: null, happened: [] };
    expect(body).toEqual({ ...envelope, ...shown(runner, ahead) });
    runner.wallNow += 2_000;
    expect(runner.clock).toEqual(shown(runner, status === 'frozen' ? ahead - 2_000 : ahead));
  });

  test('does not move back, not even a millisecond', () => {
    const runner = open();
    const before = runner.clock;
    for (const to of [text(runner.now - 1), text(runner.now - day), '0001-01-01T00:00:00Z']) {
      const { code, body } = send(runner, 'advance', { to });
      expect(code, to).toBe('clock_moves_back');
      expect(body.error).toMatchObject({ param: '/to', details: { now: before.now } });
    }
    expect(runner.clock).toEqual(before);
  });

  test('advances to a hundred years ahead of real time and no further', () => {
    const runner = open();
    const before = runner.clock;
    const farthest = runner.wallNow + secondsMax * second;
    for (const to of [text(farthest + 1), '9999-12-31T23:59:59Z']) {
      const { code, body } = send(runner, 'advance', { to });
      expect([code, body.error.param]).toEqual(['clock_too_far', '/to']);
    }
    expect(runner.clock).toEqual(before);
    expect(moved(runner, 'advance', { to: text(farthest) }).now).toBe(text(farthest));
    const { code, body } = send(runner, 'advance', { seconds: 1 });
    expect([code, body.error.param]).toEqual(['clock_too_far', '/seconds']);
    expect(runner.clock.now).toBe(text(farthest));
  });

  test.each<[what: string, body: unknown, param: string]>([
    ['neither', {}, '/seconds'],
    ['both', { seconds: 1, to: text(start + 30 * day) }, '/seconds'],
    ['zero seconds', { seconds: 0 }, '/seconds'],
    ['negative seconds', { seconds: -1 }, '/seconds'],
    ['a fraction of a second', { seconds: 1.5 }, '/seconds'],
    ['seconds as text', { seconds: '60' }, '/seconds'],
    ['null seconds', { seconds: null }, '/seconds'],
    ['a second more than a hundred years', { seconds: secondsMax + 1 }, '/seconds'],
    ['1e15 seconds', { seconds: 1e15 }, '/seconds'],
    ['text that is not a time', { to: 'tomorrow' }, '/to'],
    ['a day without a time', { to: '2031-03-05' }, '/to'],
    ['a time without a zone', { to: '2031-03-05T10:00:00' }, '/to'],
    ['the 30th of February', { to: '2031-02-30T10:00:00Z' }, '/to'],
    ['a leap second', { to: '2031-03-05T23:59:60Z' }, '/to'],
    ['a time as a number', { to: start + day }, '/to'],
    ['an unknown field', { seconds: 1, second: 1 }, '/second'],
  ])('refuses an advance by %s and stays', (_what, body, param) => {
    const runner = open();
    const before = runner.clock;
    const response = send(runner, 'advance', body);
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
    expect(runner.clock).toEqual(before);
  });

  test.each(['freeze', 'resume', 'reset'] as const)('refuses a %s with a body and stays', (what) => {
    const runner = open();
    const before = runner.clock;
    const { code, body } = send(runner, what, { seconds: 1 });
    expect([code, body.error.param]).toEqual(['invalid_request', '/seconds']);
    expect(runner.clock).toEqual(before);
  });

  test('does not change timestamps of existing records with a reset', () => {
    const runner = open();
    const { id, authorizationExpiresAt } = authorized(runner);
    expect(authorizationExpiresAt).toBe(text(runner.now + 7 * day));
    const before = runner.show(id);
    moved(runner, 'reset');
    expect(runner.show(id)).toEqual(before);
  });
});

test('a refused advance fires no timer', () => {
  const runner = new CommandRunner({ now: start });
  const { id } = authorized(runner);
  runner.wallNow += 30 * day;
  expect(send(runner, 'advance', { to: '9999-12-31T23:59:59Z' }).code).toBe('clock_too_far');
  expect(runner.show(id)).toMatchObject({ status: 'authorized', version: 2 });
});

describe('while a request advances the clock', () => {
  function advancing(): { runner: CommandRunner; row: () => ClockRow } {
    const runner = new CommandRunner({ now: start });
    runner.run(beginAdvance, { by: { seconds: 3_600 }, key: 'key', fingerprint: '' });
    return { runner, row: () => runner.row<ClockRow>(clockIdOf(runner.appId)) as ClockRow };
  }

  test.each([
    ['advance', { seconds: 60 }] as const,
    ['freeze', {}] as const,
    ['resume', {}] as const,
    ['reset', {}] as const,
  ])('a request to %s it is refused, with the target and the request that advances it', (what, body) => {
    const { runner, row } = advancing();
    const before = row();
    runner.wallNow += 2_000;
    const { status, body: answer } = send(runner, what, body);
    const details = { to: text(start + hour), requestId: before.advance?.requestId };
    expect([status, answer.error]).toMatchObject([409, { code: 'clock_advancing', details }]);
    expect(row()).toEqual(before);
    expect(runner.clock).toEqual({ status: 'running', now: text(start), offsetSeconds: -2 });
  });

  test.each<[what: string, turn: number]>([
    ['a turn that was taken over', 0],
    ['a turn that has not begun', 2],
    ['the turn of another request', 1],
  ])('%s cannot finish it', (_what, turn) => {
    const { runner, row } = advancing();
    const before = row();
    const { code } = runner.run(finishAdvance, {
      turn,
      happened: [],
      left: null,
      next: null,
      hasArrived: true,
    });
    expect(code).toBe('idempotency_in_progress');
    expect(row()).toEqual(before);
  });

  test('another request does not resume it, whatever the lease', () => {
    const { runner, row } = advancing();
    const before = row();
    expect(before.leaseUntil).toBe(start + leaseMs);
    for (const leasedUntil of [start, start + leaseMs, Number.MAX_SAFE_INTEGER])
      expect(runner.run(resumeAdvance, { leasedUntil }).result).toBeNull();
    expect(row()).toEqual(before);
  });
});
