import { clockIdOf, clockNow } from '../../kernel/clock.ts';
import {
  type Accepted,
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  change,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { type Advancing, type ClockRow, clockStates } from './table.ts';

export const clockMachine = defineMachine<ClockRow>({
  resource: 'clock',
  states: clockStates,
  moves: [
    { action: 'advance', from: [], to: clockStates, event: 'advanced' },
    { action: 'freeze', from: [], to: ['frozen'], event: 'frozen' },
    { action: 'reset', from: [], to: ['running'], event: 'reset' },
    { action: 'advance', from: clockStates, to: clockStates, stays: true, event: 'advanced' },
    { action: 'freeze', from: clockStates, to: ['frozen'], event: 'frozen' },
    { action: 'reset', from: clockStates, to: ['running'], event: 'reset' },
  ],
});

export const leaseMs = 10_000;
const dayMs = 86_400_000;
const retryAfterSeconds = 1;

/** The clock of an application that never moved it. */
export function realClock(orgId: string, appId: string, wallNow: Instant): ClockRow {
  return {
    orgId,
    id: clockIdOf(appId),
    appId,
    status: 'running',
    version: 0,
    offsetMs: 0n,
    frozenAt: null,
    advance: null,
    leaseUntil: null,
    createdAt: wallNow,
    updatedAt: wallNow,
  };
}

/** What a clock shows at an instant of real time. */
export function clockFace(clock: ClockRow, wallNow: Instant) {
  const now = clockNow(clock, wallNow);
  const offsetSeconds = Math.round((now - wallNow) / 1000);
  return { status: clock.status, now: instantToText(now), offsetSeconds };
}

/** The one change of a clock. Its history goes by the wall clock: its own time is what changes. */
export function moveClock(
  before: ClockRow,
  action: string,
  patch: Partial<ClockRow>,
  wallNow: Instant,
): Change & { readonly row: ClockRow } {
  const row: ClockRow = { ...before, ...patch, version: before.version + 1, updatedAt: wallNow };
  return { ...change(clockMachine, action, before.version === 0 ? null : before, row), row };
}

export function readClock(
  rows: { get<Row>(resource: 'clock', id: string): Row | undefined },
  { orgId, appId, wallNow }: CommandContext,
): ClockRow {
  if (appId === null) throw new Error('a clock belongs to an application');
  return rows.get<ClockRow>('clock', clockIdOf(appId)) ?? realClock(orgId, appId, wallNow);
}

export const readsClock: CommandKind<unknown>['reads'] = (_input, { appId }) =>
  appId === null ? [] : [{ resource: 'clock', id: clockIdOf(appId), lock: 'update' }];

/** While one request advances the clock, no other one touches it. */
export function refuseBusy({ advance }: ClockRow): Refusal | undefined {
  if (advance === null) return undefined;
  return refuse('clock_advancing', {
    message: `The clock is on its way to ${instantToText(advance.to)}, asked for by ${advance.requestId}. Wait until that request is answered.`,
    details: { to: instantToText(advance.to), requestId: advance.requestId },
    retryAfterSeconds,
  });
}

function answered(made: Change & { readonly row: ClockRow }): Accepted {
  return accepted([made], 'clock', made.row);
}

export const freezeClock: CommandKind<null> = {
  name: 'clocks.freeze',
  success: 'ok',
  reads: readsClock,
  decide: (_input, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const refusal = refuseBusy(clock);
    if (refusal) return refusal;
    const asNow: ClockRow = { ...clock, updatedAt: wallNow };
    if (clock.status === 'frozen') return accepted([], 'clock', asNow);
    const frozenAt = clockNow(clock, wallNow);
    return answered(moveClock(clock, 'freeze', { status: 'frozen', frozenAt }, wallNow));
  },
};

/** Back to real time: the one move that may go back. */
export const resetClock: CommandKind<null> = {
  name: 'clocks.reset',
  success: 'ok',
  reads: readsClock,
  decide: (_input, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const refusal = refuseBusy(clock);
    if (refusal) return refusal;
    return answered(moveClock(clock, 'reset', { status: 'running', frozenAt: null, offsetMs: 0n }, wallNow));
  },
};

export interface BeginAdvance {
  /** How far from now, or where to. */
  readonly by: { readonly seconds: number } | { readonly to: Instant };
  readonly key: string;
  readonly fingerprint: string;
}

/**
 * The first command of an advance: from here on the clock stands and belongs to this request. The same request again is
 * told by the engine that it is in progress.
 */
export const beginAdvance: CommandKind<BeginAdvance> = {
  name: 'clocks.advance',
  success: 'ok',
  reads: readsClock,
  decide: ({ by, key, fingerprint }, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const busy = refuseBusy(clock);
    if (busy) return busy;
    const now = clockNow(clock, wallNow);
    const to = 'to' in by ? by.to : now + by.seconds * 1000;
    const param = 'to' in by ? '/to' : '/seconds';
    if (to < now) {
      return refuse('clock_moves_back', {
        message: `The clock is at ${instantToText(now)} and does not go back to ${instantToText(to)}. Name a later time, or return to real time with \`reset\`.`,
        param,
        details: { now: instantToText(now) },
      });
    }
    if (to > wallNow + limits.clockAheadDaysMax * dayMs) return refuse('clock_too_far', { param });
    // From here it must succeed.
    const { requestId, actor, ip } = context;
    const advance: Advancing = {
      ...{ to, key, fingerprint, requestId, ip, turn: 1 },
      ...{ actorKind: actor.kind, actorId: actor.id },
    };
    const patch = { frozenAt: now, advance, leaseUntil: wallNow + leaseMs };
    const made = moveClock(clock, 'advance', patch, wallNow);
    return { ...answered(made), fields: { to, turn: advance.turn }, isInterim: true };
  },
};

/** Takes up an advance whose process is believed dead: its lease ended at the instant given, or before. */
export const resumeAdvance: CommandKind<{ readonly leasedUntil: Instant }> = {
  name: 'clocks.resume',
  success: 'ok',
  reads: readsClock,
  decide: ({ leasedUntil }, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const { advance, leaseUntil } = clock;
    const isMeant = advance?.requestId === context.requestId;
    if (advance === null || !isMeant || leaseUntil === null || leaseUntil > leasedUntil)
      return accepted([], 'clock', clock);
    const taken = { ...advance, turn: advance.turn + 1 };
    const made = moveClock(clock, 'advance', { advance: taken, leaseUntil: wallNow + leaseMs }, wallNow);
    return { ...answered(made), fields: { turn: taken.turn } };
  },
};

export interface Effect {
  readonly at: string;
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
}

export interface FinishAdvance {
  readonly turn: number;
  readonly happened: readonly Effect[];
  /** What was still due when a bound was reached; null when nothing was. */
  readonly left: {
    readonly timers: number;
    readonly deliveries: number;
    /** Deliveries among them that were due before the instant that the clock has reached. */
    readonly passedOver: number;
    readonly nextAt: Instant;
  } | null;
  /** What is scheduled next when nothing is left; null when nothing is scheduled. */
  readonly next: { readonly at: Instant; readonly type: string; readonly id?: string } | null;
  /** Whether all that could be brought about was: a fault in one record does not hold the clock back. */
  readonly isThere: boolean;
}

/** The last command of an advance. A clock that reached a bound stays where it has come to. */
export const finishAdvance: CommandKind<FinishAdvance> = {
  name: 'clocks.finish',
  success: 'ok',
  concludes: true,
  reads: readsClock,
  decide: ({ turn, happened, left, next, isThere }, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const { advance } = clock;
    if (advance === null || advance.turn !== turn || advance.requestId !== context.requestId)
      return refuse('idempotency_in_progress', { param: 'Idempotency-Key', retryAfterSeconds });
    const reached = isThere ? advance.to : (clock.frozenAt ?? advance.to);
    const isFrozen = clock.status === 'frozen';
    const made = moveClock(
      clock,
      'advance',
      {
        frozenAt: isFrozen ? reached : null,
        offsetMs: BigInt(reached - wallNow),
        advance: null,
        leaseUntil: null,
      },
      wallNow,
    );
    const fields = {
      complete: left === null,
      ...(left === null
        ? { next: next === null ? null : { ...next, at: instantToText(next.at) } }
        : {
            left: {
              timers: left.timers,
              deliveries: left.deliveries,
              passedOver: left.passedOver,
              nextAt: instantToText(left.nextAt),
              to: instantToText(advance.to),
            },
          }),
      happened,
    };
    return { ...answered(made), fields };
  },
};
