/**
 * Replays every clock from its requests, and checks with it that each transition happened at the right time. Imports nothing of the server.
 */
import { type Lifecycle, lifecycleOf, type NextTimer } from './lifecycles.ts';
import { type ClockRow, groupBy, type RecordRow, type Rows, type Transition } from './rows.ts';
import type { CompletedRequest } from './servers.ts';

/**
 * A period in which a clock is running, frozen or advancing. It starts at a wall clock time from `from`, when the server received the
 * request, to `by`, when the request was certainly committed.
 */
type Period = { readonly from: number; readonly by: number } & (
  | { readonly mode: 'running'; readonly offset: number }
  | { readonly mode: 'frozen'; readonly at: number }
  | { readonly mode: 'advancing'; readonly low: number; readonly high: number }
);

export class ClockReplay {
  readonly #periods: Period[] = [{ from: 0, by: 0, mode: 'running', offset: 0 }];

  add(period: Period): void {
    this.#periods.push(period);
  }

  get #last(): Period {
    const last = this.#periods.at(-1);
    if (!last) throw new Error('the clock has no period');
    return last;
  }

  get isFrozen(): boolean {
    return this.#last.mode === 'frozen';
  }

  /** The time of the clock in its last period. */
  read(wall: number): number {
    const last = this.#last;
    if (last.mode === 'advancing') throw new Error('cannot read a clock that is advancing');
    return last.mode === 'frozen' ? last.at : wall + last.offset;
  }

  equals({ status, offset, frozenAt, isAdvancing }: ClockRow): boolean {
    const last = this.#last;
    if (isAdvancing || last.mode === 'advancing') return false;
    return last.mode === 'frozen'
      ? status === 'frozen' && frozenAt === last.at
      : status === 'running' && frozenAt === null && offset === last.offset;
  }

  /**
   * Whether the clock can have shown a time to a request that was in flight between two wall clock times. A request takes the wall clock
   * time of its arrival, and the clock state at its commit.
   */
  couldShow(time: number, since: number, until: number): boolean {
    return this.#during(since, until).some((period) => {
      if (period.mode === 'frozen') return time === period.at;
      if (period.mode === 'advancing') return period.low <= time && time <= period.high;
      return since + period.offset <= time && time <= until + period.offset;
    });
  }

  /** The latest time that the clock can have shown between two wall clock times. */
  latest(since: number, until: number): number {
    return Math.max(
      ...this.#during(since, until).map((period) =>
        period.mode === 'frozen'
          ? period.at
          : period.mode === 'advancing'
            ? period.high
            : until + period.offset,
      ),
    );
  }

  #during(since: number, until: number): readonly Period[] {
    return this.#periods.filter(
      ({ from }, i) => from <= until && (this.#periods[i + 1]?.by ?? Number.POSITIVE_INFINITY) >= since,
    );
  }
}

/** Replays one clock from its history and the requests of its clients, and reports contradictions. */
export function replayClock(
  transitions: readonly Transition[],
  completed: ReadonlyMap<string, CompletedRequest>,
): { readonly clock: ClockReplay; readonly findings: readonly string[] } {
  const clock = new ClockReplay();
  const findings: string[] = [];
  const finished = new Set<string>();
  for (let i = 0; i < transitions.length; ) {
    const begin = transitions[i];
    if (!begin) break;
    const second = transitions[i + 1];
    let next = i + 1;
    while (transitions[next]?.request === begin.request) next += 1;
    const end = transitions[next - 1] ?? begin;
    i = next;
    const command = completed.get(begin.request);
    const report = (problem: string) =>
      findings.push(`${begin.id} ${begin.action} by ${begin.request}: ${problem}`);
    if (!command) {
      report('no client got a response for it');
      continue;
    }
    if (finished.has(begin.request)) report('its transitions are not consecutive');
    finished.add(begin.request);
    const { response } = command;
    const shows = Date.parse(response.now);
    const before = clock.read(begin.at);
    const wasFrozen = clock.isFrozen;
    const ended = { from: end.at, by: command.answeredAt };
    if (command.path === 'clock/reset') {
      clock.add({ ...ended, mode: 'running', offset: 0 });
    } else if (command.path === 'clock/freeze') {
      clock.add({ ...ended, mode: 'frozen', at: before });
    } else if (command.path === 'clock/resume') {
      clock.add({ ...ended, mode: 'running', offset: before - end.at });
    } else {
      const { seconds, to } = command.body as { seconds?: number; to?: string };
      const goal = seconds === undefined ? Date.parse(String(to)) : before + seconds * 1_000;
      const times = (response.happened as readonly { at: string }[]).map(({ at }) => Date.parse(at));
      // An advance that reaches a limit ends at its last effect.
      const reached = response.complete ? goal : Math.max(before, ...times);
      const begun = { from: begin.at, by: second?.at ?? command.answeredAt };
      clock.add({ ...begun, mode: 'advancing', low: before, high: goal });
      clock.add(
        wasFrozen
          ? { ...ended, mode: 'frozen', at: reached }
          : { ...ended, mode: 'running', offset: reached - end.at },
      );
    }
    if (clock.read(end.at) !== shows)
      report(
        `the clock was at ${before} and must be at ${clock.read(end.at)}, but the response says ${shows}`,
      );
    if ((response.status === 'frozen') !== clock.isFrozen)
      report(`the response says that it is ${response.status}`);
  }
  return { clock, findings };
}

export interface TimerSources {
  /** By request id. */
  readonly completed: ReadonlyMap<string, CompletedRequest>;
  /** By application id. */
  readonly clocks: ReadonlyMap<string, ClockReplay>;
}

/** How long after its wall clock time a round of timers may be committed. */
const ROUND_MS_MAX = 30_000;

export interface TimersAudit {
  readonly findings: readonly string[];
  /** How many transitions timers caused, by themselves and during an advance. */
  readonly timersFired: number;
}

/** Every timer fired exactly once and exactly at its time, and nothing else changed without a request. */
export function auditTimers(rows: Rows, sources: TimerSources): TimersAudit {
  const findings: string[] = [];
  let timersFired = 0;
  const byRequest = groupBy(rows.transitions, ({ request }) => request);
  const histories = groupBy(rows.transitions, ({ id }) => id);
  const shown = new Map(rows.events.map(({ record, sequence, data }) => [`${record} ${sequence}`, data]));
  const rounds = new Map(
    rows.audits.filter(({ actor }) => actor === 'system').map((row) => [row.request, row.at]),
  );
  const timerRows = new Map(rows.timers.map((timer) => [timer.id, timer]));
  for (const record of rows.records) {
    const report = (problem: string) => findings.push(`${record.id}: ${problem}`);
    const transitions = histories.get(record.id) ?? [];
    const lifecycle = lifecycleOf(record.kind, requestBody(transitions[0], sources));
    for (const [i, transition] of transitions.entries()) {
      if (transition.version !== i + 1) report(`version ${transition.version} follows ${i}`);
      const timer = i === 0 ? null : lifecycle.nextTimer();
      checkTransition(transition, timer, record, report);
      lifecycle.record(transition, shown.get(`${record.id} ${transition.version}`) ?? {});
    }
    checkTimerRow(record, lifecycle, report);
  }
  for (const { id } of timerRows.values()) findings.push(`${id}: there is a timer without a record`);
  return { findings, timersFired };

  function checkTransition(
    transition: Transition,
    timer: NextTimer | null,
    record: RecordRow,
    report: (problem: string) => void,
  ): void {
    const name = `${transition.action} at ${isoTime(transition.at)}, version ${transition.version}`;
    const expected = timer === null ? 'no timer' : `${timer.actions.join(' or ')} at ${isoTime(timer.at)}`;
    const isDue = timer !== null && transition.at === timer.at && timer.actions.includes(transition.action);
    const command = sources.completed.get(transition.request);
    const isByClock = transition.actor === 'system' || command?.path === 'clock/advance';
    if (!isByClock && !command)
      return void report(`${name} is by ${transition.request}, for which no client got a response`);
    if (timer !== null && transition.at > timer.at) report(`${name} is later than ${expected}`);
    const isOfCommand = !isByClock && transition.at === Date.parse(command?.response.updatedAt);
    if (!isDue && !isOfCommand && !isLinked(transition))
      report(`${name} is by the clock, which has ${expected}`);
    const clock = sources.clocks.get(record.app);
    if (!clock) return;
    if (isOfCommand && command && !clock.couldShow(transition.at, command.sentAt, command.answeredAt))
      report(
        `${name} is not a time that its clock showed from ${isoTime(command.sentAt)} to ${isoTime(command.answeredAt)}`,
      );
    const round = rounds.get(transition.request);
    if (
      transition.actor === 'system' &&
      (round === undefined || transition.at > clock.latest(round, round + ROUND_MS_MAX))
    )
      report(`${name} is by the clock and too early`);
    if (isByClock && command && transition.at > Date.parse(command.response.now))
      report(`${name} is by an advance to ${command.response.now}`);
    if (isByClock) timersFired += 1;
  }

  /** A dispute and its payment change together: opening creates the dispute, and a lost dispute charges the payment back. */
  function isLinked({ action, resource, request, at }: Transition): boolean {
    const cause = { dispute_lost: ['dispute', 'expire'], create: ['payment', 'dispute'] }[action];
    if (!cause || (action === 'create' && resource !== 'dispute')) return false;
    return (byRequest.get(request) ?? []).some(
      (other) => other.at === at && other.resource === cause[0] && other.action === cause[1],
    );
  }

  function checkTimerRow(record: RecordRow, lifecycle: Lifecycle, report: (problem: string) => void): void {
    const expected = lifecycle.nextTimer();
    const timer = timerRows.get(record.id);
    timerRows.delete(record.id);
    if (expected?.at !== timer?.at || (timer && timer.app !== record.app))
      report(
        `its timer must be due at ${expected && isoTime(expected.at)} and is due at ${timer && isoTime(timer.at)}`,
      );
  }
}

/** The body of the request that created a record; disputes and refunds are created by requests for others. */
function requestBody(
  creation: Transition | undefined,
  { completed }: TimerSources,
): CompletedRequest['body'] {
  return (creation && completed.get(creation.request)?.body) ?? {};
}

/** Timers that are due although their clocks are past them. The times of the clocks are by organization and application name. */
export function overdueTimers(rows: Rows, nows: ReadonlyMap<string, number>): readonly string[] {
  const now = new Map(
    rows.apps.map(({ id, organization, name }) => [id, nows.get(`${organization} ${name}`) ?? 0]),
  );
  return rows.timers
    .filter(({ app, at }) => at <= (now.get(app) ?? 0))
    .map(({ id, at }) => `${id} has been due since ${isoTime(at)}`);
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}
