/**
 * Whether what waits for a time happened when it should: exactly once, at exactly its instant, and nothing else by the
 * clock. Each life is lived once more from its own history.
 */
import type { Told } from './journey-client.ts';
import type { ClockStory } from './journey-clocks.ts';
import { type Life, lifeOf, type Wait } from './journey-dues.ts';
import { grouped, type Move, type RecordRow, type Rows } from './journey-rows.ts';

export interface Sources {
  /** By the id of the request. */
  readonly told: ReadonlyMap<string, Told>;
  /** By the id of the application. */
  readonly stories: ReadonlyMap<string, ClockStory>;
}

/** A round of timers is written within this time of the moment it took from the wall clock. */
const ROUND_MS_MAX = 30_000;

export interface TimersAudited {
  readonly findings: readonly string[];
  /** How many moves the clocks made by themselves, and on the way of a request. */
  readonly fired: number;
}

export function auditTimers(rows: Rows, sources: Sources): TimersAudited {
  const findings: string[] = [];
  let fired = 0;
  const byRequest = grouped(rows.moves, ({ request }) => request);
  const histories = grouped(rows.moves, ({ id }) => id);
  const shown = new Map(rows.events.map(({ record, sequence, data }) => [`${record} ${sequence}`, data]));
  const rounds = new Map(
    rows.audits.filter(({ actor }) => actor === 'system').map((row) => [row.request, row.at]),
  );
  const timers = new Map(rows.timers.map((timer) => [timer.id, timer]));
  for (const record of rows.records) {
    const say = (words: string) => findings.push(`${record.id}: ${words}`);
    const moves = histories.get(record.id) ?? [];
    const life = lifeOf(record.kind, askedFor(moves[0], sources));
    for (const [i, move] of moves.entries()) {
      if (move.version !== i + 1) say(`version ${move.version} follows ${i}`);
      const wait = i === 0 ? null : life.wait();
      judge(move, wait, record, say);
      life.apply(move, shown.get(`${record.id} ${move.version}`) ?? {});
    }
    expectTimer(record, life, say);
  }
  for (const { id } of timers.values()) findings.push(`${id}: it has a timer and is no record that waits`);
  return { findings, fired };

  function judge(move: Move, wait: Wait | null, record: RecordRow, say: (words: string) => void): void {
    const what = `${move.action} at ${text(move.at)}, version ${move.version}`;
    const awaited = wait === null ? 'nothing' : `${wait.actions.join(' or ')} at ${text(wait.at)}`;
    const isDue = wait !== null && move.at === wait.at && wait.actions.includes(move.action);
    const command = sources.told.get(move.request);
    const isByClock = move.actor === 'system' || command?.path === 'clock/advance';
    if (!isByClock && !command)
      return void say(`${what} was made by ${move.request}, of which nobody was told`);
    if (wait !== null && move.at > wait.at) say(`${what} came although it waited for ${awaited}`);
    const isOfCommand = !isByClock && move.at === Date.parse(command?.answer.updatedAt);
    if (!isDue && !isOfCommand && !isBrought(move))
      say(`${what} was made by the clock, and it waited for ${awaited}`);
    const story = sources.stories.get(record.app);
    if (!story) return;
    if (isOfCommand && command && !story.couldShow(move.at, command.sentAt, command.answeredAt))
      say(
        `${what} is no time that its clock showed between ${text(command.sentAt)} and ${text(command.answeredAt)}`,
      );
    const round = rounds.get(move.request);
    if (
      move.actor === 'system' &&
      (round === undefined || move.at > story.latest(round, round + ROUND_MS_MAX))
    )
      say(`${what} was made by the clock before its time`);
    if (isByClock && command && move.at > Date.parse(command.answer.now))
      say(`${what} was made on the way to ${command.answer.now}`);
    if (isByClock) fired += 1;
  }

  /** The other half of what a dispute does: its payment moves with it, and opening one makes it. */
  function isBrought({ action, resource, request, at }: Move): boolean {
    const bringer = { dispute_lost: ['dispute', 'expire'], create: ['payment', 'dispute'] }[action];
    if (!bringer || (action === 'create' && resource !== 'dispute')) return false;
    return (byRequest.get(request) ?? []).some(
      (other) => other.at === at && other.resource === bringer[0] && other.action === bringer[1],
    );
  }

  function expectTimer(record: RecordRow, life: Life, say: (words: string) => void): void {
    const wait = life.wait();
    const timer = timers.get(record.id);
    timers.delete(record.id);
    if (wait?.at !== timer?.at || (timer && timer.app !== record.app))
      say(`it waits for ${wait && text(wait.at)}, and its timer says ${timer && text(timer.at)}`);
  }
}

/** The body with which a record was made; disputes and refunds are made by others. */
function askedFor(made: Move | undefined, { told }: Sources): Told['body'] {
  return (made && told.get(made.request)?.body) ?? {};
}

export function text(instant: number): string {
  return new Date(instant).toISOString();
}
