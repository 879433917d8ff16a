import {
  type Accepted,
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  change,
  type LoadedRows,
  type PreparedCommand,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { type ActionOf, defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { clockIdOf, clockNow, dayMs } from '../../kernel/time.ts';
import { type Advancing, type ClockRow, clockStates } from './table.ts';

export const clockMachine = defineMachine<ClockRow>()({
  resource: 'clock',
  states: clockStates,
  moves: [
    { action: 'advance', from: [], to: clockStates, event: 'advanced' },
    { action: 'freeze', from: [], to: ['frozen'], event: 'frozen' },
    { action: 'reset', from: [], to: ['running'], event: 'reset' },
    { action: 'advance', from: clockStates, to: clockStates, stays: true, event: 'advanced' },
    { action: 'freeze', from: clockStates, to: ['frozen'], event: 'frozen' },
    { action: 'resume', from: ['frozen'], to: ['running'], event: 'resumed' },
    { action: 'reset', from: clockStates, to: ['running'], event: 'reset' },
  ],
});

export const leaseMs = 10_000;
const retryAfterSeconds = 1;

/** The clock of an application that has never moved it. */
export function realClock(orgId: Id<'organization'>, appId: Id<'application'>, wallNow: Instant): ClockRow {
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

/** The displayed state of a clock at an instant of real time. */
export function clockFace(clock: ClockRow, wallNow: Instant) {
  const now = clockNow(clock, wallNow);
  const offsetSeconds = Math.round((now - wallNow) / 1000);
  return { status: clock.status, now: instantToText(now), offsetSeconds };
}

/** Every clock change. Its history uses the wall clock, because the change affects the clock's own time. */
export function moveClock(
  before: ClockRow,
  action: ActionOf<typeof clockMachine>,
  patch: Partial<ClockRow>,
  wallNow: Instant,
): Change & { readonly row: ClockRow } {
  const row: ClockRow = { ...before, ...patch, version: before.version + 1, updatedAt: wallNow };
  return { ...change(clockMachine, action, before.version === 0 ? null : before, row), row };
}

export function readClock(
  rows: Pick<LoadedRows, 'get'>,
  { orgId, appId, wallNow }: CommandContext,
): ClockRow {
  if (appId === null) throw new Error('a clock belongs to an application');
  return rows.get<ClockRow>('clock', clockIdOf(appId)) ?? realClock(orgId, appId, wallNow);
}

const readsClock: CommandKind<unknown>['reads'] = (_input, { appId }) =>
  appId === null ? [] : [{ resource: 'clock', id: clockIdOf(appId), lock: 'update' }];

/** While one request advances the clock, no other request may change it. */
export function refuseBusy({ advance }: ClockRow): Refusal | undefined {
  if (advance === null) return undefined;
  return refuse('clock_advancing', {
    message: `Request ${advance.requestId} is advancing the clock to ${instantToText(advance.to)}. Wait until that request has finished.`,
    details: { to: instantToText(advance.to), requestId: advance.requestId },
    retryAfterSeconds,
  });
}

function acceptedMove(move: Change & { readonly row: ClockRow }): Accepted {
  return accepted([move], 'clock', move.row);
}

/** A command that changes the clock at once, unless a request is advancing it. */
function clockCommand(
  name: string,
  decide: (clock: ClockRow, wallNow: Instant) => Accepted,
): CommandKind<null> {
  return {
    name,
    success: 'ok',
    reads: readsClock,
    decide: (_input, context, rows) => {
      const clock = readClock(rows, context);
      return refuseBusy(clock) ?? decide(clock, context.wallNow);
    },
  };
}

/** The response to a command that changes nothing shows the present time too. */
function unchanged(clock: ClockRow, wallNow: Instant): Accepted {
  const asNow: ClockRow = { ...clock, updatedAt: wallNow };
  return accepted([], 'clock', asNow);
}

export const freezeClock = clockCommand('clocks.freeze', (clock, wallNow) => {
  if (clock.status === 'frozen') return unchanged(clock, wallNow);
  const frozenAt = clockNow(clock, wallNow);
  return acceptedMove(moveClock(clock, 'freeze', { status: 'frozen', frozenAt }, wallNow));
});

/** A frozen clock runs on from its time. */
export const resumeClock = clockCommand('clocks.resume', (clock, wallNow) => {
  if (clock.status === 'running') return unchanged(clock, wallNow);
  const offsetMs = BigInt(clockNow(clock, wallNow) - wallNow);
  return acceptedMove(moveClock(clock, 'resume', { status: 'running', frozenAt: null, offsetMs }, wallNow));
});

export const resetClock = clockCommand('clocks.reset', (clock, wallNow) =>
  acceptedMove(moveClock(clock, 'reset', { status: 'running', frozenAt: null, offsetMs: 0n }, wallNow)),
);

export interface BeginAdvance {
  /** The duration from now, or the target time. */
  readonly by: { readonly seconds: number } | { readonly to: Instant };
  readonly key: string;
  readonly fingerprint: string;
}

/** A started advance. */
export interface BegunAdvance {
  readonly to: Instant;
  /** Counts the processes that have run the advance; only the last one may continue. */
  readonly turn: number;
}

/**
 * The first command of an advance: from here on the clock is frozen and belongs to this request. The engine refuses a
 * retry of the same request as in progress.
 */
export const beginAdvance: PreparedCommand<BeginAdvance, BegunAdvance> = {
  name: 'clocks.advance',
  success: 'ok',
  needsPrepare: true,
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
        message: `The clock is at ${instantToText(now)} and cannot go back to ${instantToText(to)}. Send a later time, or reset it to real time.`,
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
    const moved = moveClock(clock, 'advance', patch, wallNow);
    return { ...acceptedMove(moved), result: { to, turn: advance.turn }, isInterim: true };
  },
};

/** Resumes an advance whose process is presumed dead: its lease expired by the given instant. Else the result is null. */
export const resumeAdvance: CommandKind<
  { readonly leasedUntil: Instant },
  Pick<BegunAdvance, 'turn'> | null
> = {
  name: 'clocks.resume',
  success: 'ok',
  reads: readsClock,
  decide: ({ leasedUntil }, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const { advance, leaseUntil } = clock;
    const isOwn = advance?.requestId === context.requestId;
    if (advance === null || !isOwn || leaseUntil === null || leaseUntil > leasedUntil)
      return { ...accepted([], 'clock', clock), result: null };
    const resumed = { ...advance, turn: advance.turn + 1 };
    const moved = moveClock(clock, 'advance', { advance: resumed, leaseUntil: wallNow + leaseMs }, wallNow);
    return { ...acceptedMove(moved), result: { turn: resumed.turn } };
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
  /** The work that was still due when a limit was reached; null if none was. */
  readonly left: {
    readonly timers: number;
    readonly deliveries: number;
    /** The deliveries among them that were due before the instant that the clock has reached. */
    readonly passedOver: number;
    readonly nextAt: Instant;
  } | null;
  /** The next scheduled step when nothing is left; null if there is none. */
  readonly next: { readonly at: Instant; readonly type: string; readonly id?: string } | null;
  /** Whether every step that could run has run: a fault in one record does not hold the clock back. */
  readonly hasArrived: boolean;
}

/** The last command of an advance. If a limit was reached, the clock stays at the last instant that it reached. */
export const finishAdvance: CommandKind<FinishAdvance> = {
  name: 'clocks.finish',
  success: 'ok',
  concludes: true,
  reads: readsClock,
  decide: ({ turn, happened, left, next, hasArrived }, context, rows) => {
    const { wallNow } = context;
    const clock = readClock(rows, context);
    const { advance } = clock;
    if (advance === null || advance.turn !== turn || advance.requestId !== context.requestId)
      return refuse('idempotency_in_progress', { param: 'Idempotency-Key', retryAfterSeconds });
    const reached = hasArrived ? advance.to : (clock.frozenAt ?? advance.to);
    const isFrozen = clock.status === 'frozen';
    const moved = moveClock(
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
    return { ...acceptedMove(moved), fields };
  },
};
