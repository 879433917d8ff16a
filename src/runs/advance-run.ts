import type { Engine } from '../engine/engine.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Answer, CommandRequest, IdempotencyClaim, RequestContext } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { clockIdOf, clockNow } from '../kernel/time.ts';
import {
  type BeginAdvance,
  beginAdvance,
  type Effect,
  finishAdvance,
  leaseMs,
  resumeAdvance,
} from '../resources/clocks/machine.ts';
import { findMovesOfRequest } from '../resources/clocks/store.ts';
import { type Advancing, type ClockRow, clocksTable } from '../resources/clocks/table.ts';
import {
  countAttemptsOfRequest,
  findAttemptsOfRequest,
  findOutstanding,
} from '../resources/webhooks/delivery-store.ts';
import { type Application, applicationOf, contextOf } from './advance-context.ts';
import { effectOfAttempt, effectOfMove } from './advance-effects.ts';
import { leftOf, nextStep, upcomingOf } from './advance-order.ts';
import { begunWith, drive, type Outcome, type Run } from './run.ts';
import { type Firing, fireRound, moveClockTo, stepOf } from './timer-round.ts';

export interface ClockRunnerSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** A monotonic clock for deadlines. It also runs on a deterministic server, whose wall clock is frozen. */
  readonly uptime: () => number;
  /** Resolves when the next delivery attempt of the application has ended. */
  readonly nextMark?: (appId: string) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/** The progress of a running advance. */
interface AdvanceState extends Firing {
  readonly idempotency: IdempotencyClaim;
  readonly to: Instant;
  readonly turn: number;
  readonly happened: Effect[];
  /** In process uptime. */
  readonly deadline: number;
  /** Timers that cannot be fired. */
  readonly passed: Set<string>;
  /** All timers up to the target time were fired. */
  isDone: boolean;
  /** The effects must be read from the history, because a response was lost. */
  isUnsure: boolean;
  /** A limit was reached before all deliveries were sent. */
  isCut: boolean;
}

const backgroundMsMax = 2_000;
// The poll interval for attempts of other nodes.
const markPauseMs = 50;
const renewMs = leaseMs / 4;

/**
 * Runs due timers in rounds of one command each. The first command of an advance claims the clock, rounds follow, and the last
 * command releases the clock and stores the response. If the process dies, the clock row has the request and its progress, and
 * another process completes it.
 *
 * Between rounds and at the end, it waits until all deliveries that are due by then were sent. The deliverers of all nodes send
 * them, by the same clock.
 */
export class ClockRunner {
  readonly #settings: ClockRunnerSettings;
  #isStopping = false;

  constructor(settings: ClockRunnerSettings) {
    this.#settings = settings;
  }

  /** Running advances stop at their current time and report that. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Runs a request to advance a clock, from its first command to its last. */
  advance(by: BeginAdvance['by'], request: CommandRequest): Promise<Answer> {
    return drive(this.#run(() => this.#begin(by, request)));
  }

  /** Resumes an advance whose process died and whose lease ended at the given instant. */
  async resume(clock: ClockRow, leasedUntil: Instant): Promise<void> {
    const { advance } = clock;
    if (advance !== null) await drive(this.#run(() => this.#beginResumed(clock, advance, leasedUntil)));
  }

  #run(begin: Run<AdvanceState>['begin']): Run<AdvanceState> {
    return {
      begin,
      step: (state) => this.#step(state),
      finish: (state) => this.#finish(state),
    };
  }

  async #begin(by: BeginAdvance['by'], request: CommandRequest): Promise<Outcome<AdvanceState>> {
    const { engine } = this.#settings;
    const { context, idempotency } = request;
    if (!idempotency) throw new Error('an advance has an idempotency key');
    const { key, fingerprint } = idempotency;
    const input: BeginAdvance = { by, key, fingerprint: Buffer.from(fingerprint).toString('base64') };
    if (engine.idGenerator.isSeeded) await this.#sendDue(applicationOf(context));
    const begun = await engine.submit({ ...request, kind: beginAdvance, input });
    return begunWith(begun, ({ to, turn }) => {
      const steps = engine.idGenerator.stepSuffixes(context.suffix);
      return this.#state({ context, steps, idempotency, to, turn, happened: [] });
    });
  }

  async #beginResumed(
    clock: ClockRow,
    advance: Advancing,
    leasedUntil: Instant,
  ): Promise<Outcome<AdvanceState>> {
    const { engine, wallClock } = this.#settings;
    const context = contextOf(clock, advance, engine.idGenerator.background(clock.orgId));
    const steps = engine.idGenerator.stepSuffixes(context.suffix);
    const resumed = await engine.submit(
      stepOf(context, steps.bookkeeping(), resumeAdvance, { leasedUntil }, wallClock()),
    );
    // No result means that another node was faster.
    if (resumed.code !== null || resumed.isReplay || resumed.result === null) return { answer: resumed };
    const { turn } = resumed.result;
    const { to, key } = advance;
    const idempotency = { key, fingerprint: Buffer.from(advance.fingerprint, 'base64') };
    const happened = [...(await this.#happenedSoFar(context))];
    return { value: this.#state({ context, steps, idempotency, to, turn, happened }) };
  }

  #state(begun: Pick<AdvanceState, keyof Firing | 'idempotency' | 'to' | 'turn' | 'happened'>): AdvanceState {
    const deadline = this.#settings.uptime() + limits.clockAdvanceMsMax;
    return { ...begun, deadline, passed: new Set(), isDone: false, isUnsure: false, isCut: false };
  }

  /** The effects of a request so far, read from the history, for callers that do not have all responses. */
  async #happenedSoFar({ orgId, requestId }: RequestContext): Promise<readonly Effect[]> {
    // A step may be several moves.
    const movesMax = limits.clockAdvanceStepsMax * 2;
    const moves = await findMovesOfRequest(this.#settings.reader, orgId, requestId, movesMax);
    return moves.map(effectOfMove);
  }

  /** Fires the due timers of a running or frozen clock that no request is advancing. */
  async runDue(application: Application): Promise<void> {
    const { engine, reader, wallClock, uptime } = this.#settings;
    const { orgId, appId } = application;
    const until = uptime() + backgroundMsMax;
    for (const passed = new Set<string>(); uptime() < until && !this.#isStopping; ) {
      const clock = await reader.byKey(clocksTable, orgId, clockIdOf(appId));
      const now = clockNow(clock, wallClock());
      const suffix = engine.idGenerator.background(orgId);
      const context: RequestContext = {
        ...application,
        actor: { kind: 'system', id: 'clock' },
        requestId: formatId('request', suffix),
        ip: null,
        settings: defaultApplicationSettings,
        suffix,
      };
      const firing = { context, steps: engine.idGenerator.stepSuffixes(suffix), turn: null };
      const bounds = { to: now, stepsMax: limits.clockAdvanceStepsMax, passed };
      const round = await fireRound(this.#settings, firing, bounds);
      if ('code' in round) return this.#settings.onError(new Error(round.body), 'firing timers failed');
      if (round.isLast || round.happened.length === 0) return;
    }
  }

  /** Fires the next timers, or waits for the deliveries that are due before them. */
  async #step(state: AdvanceState): Promise<Outcome<AdvanceState> | 'again'> {
    const { reader, uptime } = this.#settings;
    const { context, to, happened, deadline, passed } = state;
    if (state.isDone || uptime() >= deadline || this.#isStopping) return { value: state };
    const stepsMax = limits.clockAdvanceStepsMax - happened.length;
    if (stepsMax <= 0) return { value: state };
    const next = await nextStep(reader, applicationOf(context), to, passed);
    if (next.kind === 'send') return this.#send(state, next.until);
    const round = await fireRound(this.#settings, state, { to: next.until, stepsMax, passed });
    if ('code' in round) return { answer: round };
    // Another node may have fired the timer in the meantime: then nothing is due up to `until`, but later timers may be.
    state.isDone = round.isLast && next.until === to;
    state.isUnsure ||= round.isUnsure;
    happened.push(...round.happened);
    if (!state.isDone && round.happened.length === 0) return 'again';
    const reached = Date.parse(round.happened.at(-1)?.at ?? '');
    return this.#send(state, state.isDone ? to : reached);
  }

  async #send(state: AdvanceState, until: Instant): Promise<Outcome<AdvanceState> | 'again'> {
    const sent = await this.#sendUntil(state, until);
    if (typeof sent === 'object') return { answer: sent };
    if (sent === 'all') return 'again';
    state.isCut = true;
    return { value: state };
  }

  async #finish(state: AdvanceState): Promise<Answer> {
    const { engine, reader, wallClock } = this.#settings;
    const { context, steps, to, turn, happened, idempotency, isDone } = state;
    if (state.isUnsure) happened.splice(0, happened.length, ...(await this.#happenedSoFar(context)));
    const { orgId, requestId } = context;
    const attempts = await findAttemptsOfRequest(reader, orgId, requestId, limits.clockAdvanceStepsMax);
    happened.push(...attempts.map(effectOfAttempt));
    // Records that were created during the advance may have been due before earlier effects.
    happened.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const isComplete = isDone && !state.isCut && state.passed.size === 0;
    const application = applicationOf(context);
    const clock = isComplete
      ? undefined
      : await reader.byKey(clocksTable, orgId, clockIdOf(application.appId));
    const reached = isDone ? to : (clock?.frozenAt ?? to);
    const left = isComplete ? null : await leftOf(reader, application, to, reached);
    const next = left === null ? await upcomingOf(reader, application) : null;
    const input = { turn, happened, left, next, hasArrived: isDone || left === null };
    return engine.submit({
      ...stepOf(context, steps.bookkeeping(), finishAdvance, input, wallClock()),
      idempotency,
    });
  }

  /**
   * On a deterministic server, deliveries that are already due are sent before the advance begins. Otherwise a race would decide
   * whether the advance reports them as its effects.
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

  /** Waits for the next attempt of this node, or for the poll interval of the other nodes. */
  async #marked({ appId }: Application): Promise<void> {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, markPauseMs));
    await Promise.race([pause, ...(this.#settings.nextMark ? [this.#settings.nextMark(appId)] : [])]);
  }

  /** Waits until all deliveries due by an instant were sent, a limit is reached, or another process took over the clock. */
  async #sendUntil(state: AdvanceState, until: Instant): Promise<'all' | 'some' | Answer> {
    const { reader, uptime } = this.#settings;
    const { context, happened, deadline } = state;
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
        const moved = await moveClockTo(this.#settings, state, until);
        if ('code' in moved) return moved;
        renewAt = uptime() + renewMs;
      }
      await marked;
    }
  }
}
