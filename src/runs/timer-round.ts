import type { Engine } from '../engine/engine.ts';
import type { StepSuffixes } from '../engine/id-generator.ts';
import type { Answer, CommandKind, RequestContext, Submission } from '../kernel/command.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import type { Effect } from '../resources/clocks/machine.ts';
import { findDue } from '../resources/clocks/store.ts';
import { type FireTimers, fireTimersOf } from '../resources/clocks/timer-commands.ts';
import { applicationOf } from './advance-context.ts';

export interface TimerRoundSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
}

/** The caller on whose behalf timers fire, and the id suffixes of the commands. */
export interface Firing {
  readonly context: RequestContext;
  readonly steps: StepSuffixes;
  /** The turn of the advance that it belongs to; null when no advance is running. */
  readonly turn: number | null;
}

export interface RoundBounds {
  readonly to: Instant;
  readonly stepsMax: number;
  /** Timers that cannot be fired because of a bug. They are skipped, and the round adds those that it finds. */
  readonly passed: Set<string>;
}

export interface Round {
  readonly happened: readonly Effect[];
  /** Nothing more is due. */
  readonly isLast: boolean;
  /** The command was retried: effects of an attempt whose response was lost are missing here. */
  readonly isUnsure: boolean;
}

const roundMax = 256;
const attemptsMax = 5;
const pauseMs = 200;

/** Fires the due timers in one command. Returns its effects, or the response with which it failed. */
export async function fireRound(
  settings: TimerRoundSettings,
  firing: Firing,
  { to, stepsMax, passed }: RoundBounds,
): Promise<Round | Answer> {
  const { reader, engine } = settings;
  const { context, steps, turn } = firing;
  const found = await findDue(reader, applicationOf(context), to, roundMax + 1 + passed.size);
  const due = found.filter(({ id }) => !passed.has(id));
  if (due.length === 0) return { happened: [], isLast: true, isUnsure: false };
  const timers = due.slice(0, roundMax);
  const until = due.length > roundMax ? (timers.at(-1)?.dueAt ?? to) : to;
  const stepsInRoundMax = Math.min(stepsMax, roundMax * 2);
  const fire = (batch: typeof timers) => {
    const suffix = steps.next();
    const suffixes = Array.from({ length: stepsInRoundMax }, engine.idGenerator.rowSuffixes(suffix));
    const input = { timers: batch, until, turn, stepsMax: stepsInRoundMax, suffixes };
    return fireWithRetries(settings, firing, suffix, input);
  };
  const all = await fire(timers);
  if (!('code' in all) || all.code !== 'internal_error') return all;
  // One of them cannot be fired because of a bug. It must not block the others.
  const effects: Effect[] = [];
  let isUnsure = false;
  for (const timer of timers) {
    const alone = await fire([timer]);
    if (!('code' in alone)) {
      effects.push(...alone.happened);
      isUnsure ||= alone.isUnsure;
    } else if (alone.code === 'internal_error') passed.add(timer.id);
    else return alone;
  }
  return { happened: effects, isLast: false, isUnsure };
}

/** Moves the clock of an advance without firing timers. This wakes the deliverers and renews the lease of the advance. */
export function moveClockTo(
  settings: TimerRoundSettings,
  firing: Firing,
  until: Instant,
): Promise<Round | Answer> {
  const { steps, turn } = firing;
  const empty = { timers: [], until, turn, stepsMax: 0, suffixes: [], reach: until };
  return fireWithRetries(settings, firing, steps.bookkeeping(), empty);
}

/** Retries a few times while the database is unavailable. */
async function fireWithRetries(
  { engine, wallClock }: TimerRoundSettings,
  { context, steps }: Firing,
  suffix: string,
  input: FireTimers,
): Promise<Round | Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const attemptSuffix = attempt === 1 ? suffix : steps.bookkeeping();
    const kind = fireTimersOf(input.timers);
    const answer = await engine.submit(stepOf(context, attemptSuffix, kind, input, wallClock()));
    if (answer.code === null && !answer.isReplay)
      return { happened: answer.result.happened, isLast: false, isUnsure: attempt > 1 };
    if (answer.code !== 'service_unavailable' || attempt >= attemptsMax) return answer;
    await new Promise((resolve) => setTimeout(resolve, pauseMs * attempt));
  }
}

/** Every command has its own suffix, because it has its own row in the audit trail. */
export function stepOf<Input, Result>(
  context: RequestContext,
  suffix: string,
  kind: CommandKind<Input, Result>,
  input: Input,
  wallNow: Instant,
): Submission<Input, Result> {
  return { kind, input, context: { ...context, suffix }, idempotency: null, wallNow };
}
