import type { Engine } from '../engine/engine.ts';
import type { StepSuffixes } from '../engine/id-generator.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import { clockIdOf, clockNow } from '../kernel/clock.ts';
import type { CommandRequest } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type BeginAdvance,
  beginAdvance,
  type Effect,
  finishAdvance,
  leaseMs,
  resumeAdvance,
} from '../resources/clocks/machine.ts';
import { findDue, findMovesOfRequest } from '../resources/clocks/store.ts';
import { type ClockRow, clocksTable } from '../resources/clocks/table.ts';
import { fireTimers } from '../resources/clocks/timer-commands.ts';
import {
  countAttemptsOfRequest,
  findAttemptsOfRequest,
  findOutstanding,
} from '../resources/webhooks/delivery-store.ts';
import { type Application, applicationOf, contextOf } from './advance-context.ts';
import { effectOfAttempt, effectOfMove } from './advance-effects.ts';
import { leftOf, nextStep, upcomingOf } from './advance-order.ts';

export interface ClockRunnerSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** For bounds: it goes on also where the wall clock stands, which it does on a server that repeats itself. */
  readonly uptime: () => number;
  /** Resolves when an attempt to deliver something of the application has ended. */
  readonly nextMark?: (appId: string) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/** An advance that is carried out: who asked for it, where to, and what has happened so far. */
interface AdvanceRun {
  readonly context: CommandRequest;
  readonly steps: StepSuffixes;
  readonly idempotency: NonNullable<Submission['idempotency']>;
  readonly to: Instant;
  readonly turn: number;
  readonly happened: Effect[];
}

interface Round {
  readonly happened: readonly Effect[];
  /** Nothing more is due. */
  readonly isLast: boolean;
  /** It was tried again: what a lost answer would have told is not in here. */
  readonly isUnsure: boolean;
}

const roundMax = 256;
const attemptsMax = 5;
const pauseMs = 200;
const backgroundMsMax = 2_000;
// How long an attempt of another node goes unnoticed.
const markPauseMs = 50;
const renewMs = leaseMs / 4;

/**
 * Brings about what falls due, in rounds that are one command each. An advance is begun by a command that takes the clock,
 * carried out in rounds, and ended by a command that gives it back and keeps the answer. Whatever process dies on the
 * way, the clock knows the request and how far it has come, and another one ends it.
 *
 * Between two rounds, and at the end, it waits until everything was sent that is due by then. The sending is done by the
 * deliverers of all nodes, which go by the same clock.
 */
export class ClockRunner {
  readonly #settings: ClockRunnerSettings;
  #isStopping = false;

  constructor(settings: ClockRunnerSettings) {
    this.#settings = settings;
  }

  /** Advances end where they are, and say so. */
  stop(): void {
    this.#isStopping = true;
  }

  /** The request to advance a clock, from its first command to its last. */
  async advance(submission: Submission): Promise<Answer> {
    const { engine } = this.#settings;
    const { idempotency } = submission;
    if (!idempotency) throw new Error('an advance has an idempotency key');
    const { key, fingerprint } = idempotency;
    const input: BeginAdvance = {
      by: submission.input as BeginAdvance['by'],
      key,
      fingerprint: Buffer.from(fingerprint).toString('base64'),
    };
    if (engine.idGenerator.isSeeded) await this.#sendDue(applicationOf(submission.context));
    const begun = await engine.submit({ ...submission, kind: beginAdvance, input });
    if (begun.code !== null || begun.isReplay) return begun;
    const { to, turn } = JSON.parse(begun.body) as { to: Instant; turn: number };
    const { context } = submission;
    const steps = engine.idGenerator.stepSuffixes(context.suffix);
    return this.#carryOut({ context, steps, idempotency, to, turn, happened: [] });
  }

  /** Takes up an advance whose process died: nobody has held it since the instant given. */
  async resume(clock: ClockRow, leasedUntil: Instant): Promise<void> {
    if (clock.advance === null) return;
    const { advance } = clock;
    const { engine } = this.#settings;
    const context = contextOf(clock, advance, engine.idGenerator.background(clock.orgId));
    const steps = engine.idGenerator.stepSuffixes(context.suffix);
    const taken = await engine.submit(
      this.#submission(context, steps.bookkeeping(), resumeAdvance, { leasedUntil }),
    );
    const { turn } = JSON.parse(taken.body) as { turn?: number };
    if (taken.code !== null || turn === undefined) return;
    const fingerprint = Buffer.from(advance.fingerprint, 'base64');
    await this.#carryOut({
      context,
      steps,
      idempotency: { key: advance.key, fingerprint },
      to: advance.to,
      turn,
      happened: [...(await this.#happenedSoFar(context))],
    });
  }

  /** What a request has brought about, from the history: for who cannot know it from the answers. */
  async #happenedSoFar({ orgId, requestId }: CommandRequest): Promise<readonly Effect[]> {
    // A step may be several moves.
    const movesMax = limits.clockAdvanceStepsMax * 2;
    const moves = await findMovesOfRequest(this.#settings.reader, orgId, requestId, movesMax);
    return moves.map(effectOfMove);
  }

  /** What is due by a clock that runs, or stands, with nobody advancing it. */
  async runDue(application: Application): Promise<void> {
    const { engine, reader, wallClock, uptime } = this.#settings;
    const { orgId, appId } = application;
    const until = uptime() + backgroundMsMax;
    for (const passed = new Set<string>(); uptime() < until && !this.#isStopping; ) {
      const clock = await reader.byKey(clocksTable, orgId, clockIdOf(appId));
      const now = clockNow(clock, wallClock());
      const suffix = engine.idGenerator.background(orgId);
      const context: CommandRequest = {
        ...application,
        actor: { kind: 'system', id: 'clock' },
        requestId: formatId('request', suffix),
        ip: null,
        settings: defaultApplicationSettings,
        suffix,
      };
      const steps = engine.idGenerator.stepSuffixes(suffix);
      const round = await this.#round(context, steps, null, now, limits.clockAdvanceStepsMax, passed);
      if ('code' in round) return this.#settings.onError(new Error(round.body), 'timers were not fired');
      if (round.isLast || round.happened.length === 0) return;
    }
  }

  async #carryOut(journey: AdvanceRun): Promise<Answer> {
    const { engine, reader, uptime } = this.#settings;
    const { context, steps, to, turn, happened, idempotency } = journey;
    const deadline = uptime() + limits.clockAdvanceMsMax;
    const passed = new Set<string>();
    let isDone = false;
    let isUnsure = false;
    let isCut = false;
    while (!isDone && uptime() < deadline && !this.#isStopping) {
      const stepsLeft = limits.clockAdvanceStepsMax - happened.length;
      if (stepsLeft <= 0) break;
      const step = await nextStep(reader, applicationOf(context), to, passed);
      if (step.kind === 'send') {
        const sent = await this.#sendUntil(journey, step.until, deadline);
        if (typeof sent === 'object') return sent;
        isCut = sent !== 'all';
        if (isCut) break;
        continue;
      }
      const round = await this.#round(context, steps, turn, step.until, stepsLeft, passed);
      if ('code' in round) return round;
      // Somebody else may have taken the timer meanwhile: then nothing is due up to there, but perhaps behind it.
      isDone = round.isLast && step.until === to;
      isUnsure ||= round.isUnsure;
      happened.push(...round.happened);
      if (!isDone && round.happened.length === 0) continue;
      const reached = Date.parse(round.happened.at(-1)?.at ?? '');
      const sent = await this.#sendUntil(journey, isDone ? to : reached, deadline);
      if (sent !== 'all') isCut = true;
      if (typeof sent === 'object') return sent;
      if (isCut) break;
    }
    if (isUnsure) happened.splice(0, happened.length, ...(await this.#happenedSoFar(context)));
    const { orgId, requestId } = context;
    const attempts = await findAttemptsOfRequest(reader, orgId, requestId, limits.clockAdvanceStepsMax);
    happened.push(...attempts.map(effectOfAttempt));
    // What others made while the clock was on its way may have been due before what had happened by then.
    happened.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const isComplete = isDone && !isCut && passed.size === 0;
    const application = applicationOf(context);
    const clock = isComplete
      ? undefined
      : await reader.byKey(clocksTable, orgId, clockIdOf(application.appId));
    const reached = isDone ? to : (clock?.frozenAt ?? to);
    const left = isComplete ? null : await leftOf(reader, application, to, reached);
    const next = left === null ? await upcomingOf(reader, application) : null;
    return engine.submit({
      ...this.#submission(context, steps.bookkeeping(), finishAdvance, {
        turn,
        happened,
        left,
        next,
        isThere: isDone || left === null,
      }),
      idempotency,
    });
  }

  /**
   * Where a run shall repeat itself, what is due already is sent before the clock sets out: it would be told as happened on the
   * way, or not, by who was quicker.
   */
  async #sendDue(application: Application): Promise<void> {
    const { reader, wallClock, uptime } = this.#settings;
    const clock = await reader.byKey(clocksTable, application.orgId, clockIdOf(application.appId));
    const deadline = uptime() + limits.clockAdvanceMsMax;
    while (uptime() < deadline && !this.#isStopping) {
      const marked = this.#marked(application);
      const { due } = await findOutstanding(reader, application, clockNow(clock, wallClock()), 1);
      if (due === 0) return;
      await marked;
    }
  }

  /** Until an attempt of this node has ended, or one of another could have. */
  async #marked({ appId }: Application): Promise<void> {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, markPauseMs));
    await Promise.race([pause, ...(this.#settings.nextMark ? [this.#settings.nextMark(appId)] : [])]);
  }

  /** Waits until all that is due up to an instant was sent, or a bound is reached, or the clock was lost to somebody else. */
  async #sendUntil(journey: AdvanceRun, until: Instant, deadline: number): Promise<'all' | 'some' | Answer> {
    const { reader, uptime } = this.#settings;
    const { context, steps, turn, happened } = journey;
    const application = applicationOf(context);
    if (Number.isNaN(until)) return 'all';
    for (let renewAt = 0; ; ) {
      const marked = this.#marked(application);
      const { due } = await findOutstanding(reader, application, until, 1);
      if (due === 0) return 'all';
      const { orgId, requestId } = context;
      const attempts = await countAttemptsOfRequest(reader, orgId, requestId, limits.clockAdvanceStepsMax);
      const isLate = uptime() >= deadline || this.#isStopping;
      if (isLate || happened.length + attempts >= limits.clockAdvanceStepsMax) return 'some';
      if (uptime() >= renewAt) {
        // Moves the clock there, which wakes those who send, and says that this process is alive.
        const empty = { timers: [], until, turn, stepsMax: 0, suffixes: [], reach: until };
        const moved = await this.#fire(context, steps, steps.bookkeeping(), empty);
        if ('code' in moved) return moved;
        renewAt = uptime() + renewMs;
      }
      await marked;
    }
  }

  /** One round: what happened, or the answer that it failed with. */
  async #round(
    context: CommandRequest,
    steps: StepSuffixes,
    turn: number | null,
    to: Instant,
    stepsMax: number,
    passed: Set<string>,
  ): Promise<Round | Answer> {
    const { reader } = this.#settings;
    const found = await findDue(reader, applicationOf(context), to, roundMax + 1 + passed.size);
    const due = found.filter(({ id }) => !passed.has(id));
    if (due.length === 0) return { happened: [], isLast: true, isUnsure: false };
    const timers = due.slice(0, roundMax);
    const until = due.length > roundMax ? (timers.at(-1)?.dueAt ?? to) : to;
    const stepsInRoundMax = Math.min(stepsMax, roundMax * 2);
    const fire = (some: typeof timers) => {
      const suffix = steps.next();
      const suffixes = Array.from(
        { length: stepsInRoundMax },
        this.#settings.engine.idGenerator.rowSuffixes(suffix),
      );
      return this.#fire(context, steps, suffix, {
        timers: some,
        until,
        turn,
        stepsMax: stepsInRoundMax,
        suffixes,
      });
    };
    const all = await fire(timers);
    if (!('code' in all) || all.code !== 'internal_error') return all;
    // One of them cannot be brought about: that is a fault of ours, and must not hold up the others.
    const rest: Effect[] = [];
    let isUnsure = false;
    for (const timer of timers) {
      const alone = await fire([timer]);
      if (!('code' in alone)) {
        rest.push(...alone.happened);
        isUnsure ||= alone.isUnsure;
      } else if (alone.code === 'internal_error') passed.add(timer.id);
      else return alone;
    }
    return { happened: rest, isLast: false, isUnsure };
  }

  /** While the database is away it is tried again, for a while. */
  async #fire(
    context: CommandRequest,
    steps: StepSuffixes,
    suffix: string,
    input: Parameters<typeof fireTimers.decide>[0],
  ): Promise<Round | Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const own = attempt === 1 ? suffix : steps.bookkeeping();
      const answer = await this.#settings.engine.submit(this.#submission(context, own, fireTimers, input));
      if (answer.code === null) {
        const { happened } = JSON.parse(answer.body) as Pick<Round, 'happened'>;
        return { happened, isLast: false, isUnsure: attempt > 1 };
      }
      if (answer.code !== 'service_unavailable' || attempt >= attemptsMax) return answer;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * attempt));
    }
  }

  /** Every command has a suffix of its own, because it has a row in the audit trail, whichever request it belongs to. */
  #submission(context: CommandRequest, suffix: string, kind: Submission['kind'], input: unknown): Submission {
    const own = { ...context, suffix };
    return { kind, input, context: own, idempotency: null, wallNow: this.#settings.wallClock() };
  }
}
