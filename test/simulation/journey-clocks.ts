/**
 * The clocks of a journey, wound once more from what their clients asked for. The history of a clock says when, by the wall
 * clock, each request moved it; where it then was follows from the requests alone.
 */
import type { Told } from './journey-client.ts';
import type { ClockRow, Move } from './journey-rows.ts';

/**
 * A time in which a clock ran, stood, or was on its way. By the wall clock it began not before `from`, which is when the
 * command that began it came in, and not after `by`, when that command is known to have been written.
 */
type Stretch = { readonly from: number; readonly by: number } & (
  | { readonly how: 'ran'; readonly offset: number }
  | { readonly how: 'stood'; readonly at: number }
  | { readonly how: 'moved'; readonly low: number; readonly high: number }
);

export class ClockStory {
  readonly #stretches: Stretch[] = [{ from: 0, by: 0, how: 'ran', offset: 0 }];

  add(stretch: Stretch): void {
    this.#stretches.push(stretch);
  }

  get #last(): Stretch {
    const last = this.#stretches.at(-1);
    if (!last) throw new Error('a clock has a first stretch');
    return last;
  }

  get isFrozen(): boolean {
    return this.#last.how === 'stood';
  }

  /** What it shows now, so to say. */
  read(wall: number): number {
    const last = this.#last;
    if (last.how === 'moved') throw new Error('a clock on its way is read');
    return last.how === 'stood' ? last.at : wall + last.offset;
  }

  equals({ status, offset, standsAt, isAdvancing }: ClockRow): boolean {
    const last = this.#last;
    if (isAdvancing || last.how === 'moved') return false;
    return last.how === 'stood'
      ? status === 'frozen' && standsAt === last.at
      : status === 'running' && standsAt === null && offset === last.offset;
  }

  /**
   * Whether it can have shown an instant to a request that was under way between two moments of the wall clock. A request
   * takes the wall time at which it came in, and the clock as it is when it is written.
   */
  couldShow(instant: number, since: number, until: number): boolean {
    return this.#during(since, until).some((stretch) => {
      if (stretch.how === 'stood') return instant === stretch.at;
      if (stretch.how === 'moved') return stretch.low <= instant && instant <= stretch.high;
      return since + stretch.offset <= instant && instant <= until + stretch.offset;
    });
  }

  /** The latest that it can have shown then. */
  latest(since: number, until: number): number {
    return Math.max(
      ...this.#during(since, until).map((stretch) =>
        stretch.how === 'stood'
          ? stretch.at
          : stretch.how === 'moved'
            ? stretch.high
            : until + stretch.offset,
      ),
    );
  }

  #during(since: number, until: number): readonly Stretch[] {
    return this.#stretches.filter(
      ({ from }, i) => from <= until && (this.#stretches[i + 1]?.by ?? Number.POSITIVE_INFINITY) >= since,
    );
  }
}

/** Tells the story of one clock, and what in its history does not follow from what its clients were told. */
export function storyOf(
  moves: readonly Move[],
  told: ReadonlyMap<string, Told>,
): { readonly story: ClockStory; readonly findings: readonly string[] } {
  const story = new ClockStory();
  const findings: string[] = [];
  const done = new Set<string>();
  for (let i = 0; i < moves.length; ) {
    const begin = moves[i];
    if (!begin) break;
    const second = moves[i + 1];
    let next = i + 1;
    while (moves[next]?.request === begin.request) next += 1;
    const end = moves[next - 1] ?? begin;
    i = next;
    const command = told.get(begin.request);
    const say = (words: string) => findings.push(`${begin.id} ${begin.action} by ${begin.request}: ${words}`);
    if (!command) {
      say('nobody was told of it');
      continue;
    }
    if (done.has(begin.request)) say('it moved the clock in two goes');
    done.add(begin.request);
    const { answer } = command;
    const shows = Date.parse(answer.now);
    const before = story.read(begin.at);
    const wasFrozen = story.isFrozen;
    const ended = { from: end.at, by: command.answeredAt };
    if (command.path === 'clock/reset') {
      story.add({ ...ended, how: 'ran', offset: 0 });
    } else if (command.path === 'clock/freeze') {
      story.add({ ...ended, how: 'stood', at: before });
    } else {
      const { seconds, to } = command.body as { seconds?: number; to?: string };
      const goal = seconds === undefined ? Date.parse(String(to)) : before + seconds * 1_000;
      const way = (answer.happened as readonly { at: string }[]).map(({ at }) => Date.parse(at));
      // One that met a bound stays where it has come to.
      const reached = answer.complete ? goal : Math.max(before, ...way);
      const begun = { from: begin.at, by: second?.at ?? command.answeredAt };
      story.add({ ...begun, how: 'moved', low: before, high: goal });
      story.add(
        wasFrozen
          ? { ...ended, how: 'stood', at: reached }
          : { ...ended, how: 'ran', offset: reached - end.at },
      );
    }
    if (story.read(end.at) !== shows)
      say(`it was at ${before}, so it must be at ${story.read(end.at)}, and is said to be at ${shows}`);
    if ((answer.status === 'frozen') !== story.isFrozen) say(`it is said to be ${answer.status}`);
  }
  return { story, findings };
}
