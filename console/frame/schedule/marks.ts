import type { ScheduledItem } from '../../generated/shapes.ts';
import { pluralize } from '../../parts/text.ts';

/** Everything that is due within one second; `at` is the instant of the last. */
export interface Mark {
  readonly at: number;
  readonly items: readonly ScheduledItem[];
}

/** Items of one mark with the same effect: one row of the list. */
export interface Group {
  readonly at: number;
  readonly items: readonly [ScheduledItem, ...ScheduledItem[]];
}

/** The items that are still ahead, in order, as the server returns them. Records of one burst are due milliseconds apart. */
export function marksOf(items: readonly ScheduledItem[], now: number): readonly Mark[] {
  const marks: { from: number; at: number; items: ScheduledItem[] }[] = [];
  for (const item of items) {
    const at = Date.parse(item.at);
    if (at <= now) continue;
    const last = marks.at(-1);
    if (last !== undefined && at - last.from < 1_000) {
      last.items.push(item);
      last.at = at;
    } else marks.push({ from: at, at, items: [item] });
  }
  return marks;
}

export function groupsOf({ at, items }: Mark): readonly Group[] {
  return byEffect(items).map((group) => ({ at, items: group }));
}

function byEffect(items: readonly ScheduledItem[]): readonly Group['items'][] {
  const groups = new Map<string, [ScheduledItem, ...ScheduledItem[]]>();
  for (const item of items) {
    const key = `${item.kind} ${item.action}`;
    const found = groups.get(key);
    if (found) found.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

const effects: Readonly<Record<ScheduledItem['kind'], Readonly<Record<string, readonly [string, string]>>>> =
  {
    payment: {
      authorize: ['payment is authorized', 'payments are authorized'],
      capture: ['payment is captured', 'payments are captured'],
      dispute: ['payment is disputed', 'payments are disputed'],
      expire: ['authorization expires', 'authorizations expire'],
      fail: ['payment fails', 'payments fail'],
      process: ['payment starts processing', 'payments start processing'],
      require_action: ['payment requires action', 'payments require action'],
      retry: ['payment is retried', 'payments are retried'],
      settle: ['payment settles', 'payments settle'],
    },
    dispute: { expire: ['dispute is lost', 'disputes are lost'] },
    transfer: {
      accept: ['transfer is accepted', 'transfers are accepted'],
      complete: ['transfer completes', 'transfers complete'],
      convert: ['transfer is converted', 'transfers are converted'],
      expire: ['transfer expires', 'transfers expire'],
      fail: ['transfer fails', 'transfers fail'],
      fund: ['transfer is funded', 'transfers are funded'],
      reject: ['transfer is rejected', 'transfers are rejected'],
      release: ['transfer is released', 'transfers are released'],
      return: ['transfer is returned', 'transfers are returned'],
      review: ['transfer goes to review', 'transfers go to review'],
      send: ['transfer is sent', 'transfers are sent'],
    },
    delivery: { attempt: ['webhook is retried', 'webhooks are retried'] },
  };

/** '3 payments settle', of items with the same effect. */
export function describeGroup([item, ...others]: Group['items']): string {
  const [one, many] = effects[item.kind][item.action] ?? [
    `${item.kind}: ${item.action}`,
    `${item.kind}s: ${item.action}`,
  ];
  return pluralize(others.length + 1, one, many);
}

/** '3 payments settle, 1 dispute is lost'. `isMore`: not all of the items are known. */
export function describeItems(items: readonly ScheduledItem[], isMore = false): string {
  if (items.length === 0) return 'nothing is due';
  return `${byEffect(items).map(describeGroup).join(', ')}${isMore ? ' and more' : ''}`;
}

/** Everything that is due up to an instant. */
export function dueUntil(marks: readonly Mark[], target: number): readonly ScheduledItem[] {
  return marks.filter(({ at }) => at <= target).flatMap(({ items }) => items);
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The lengths that the time line may have, which are also its ticks. */
const spans: readonly (readonly [ms: number, label: string])[] = [
  [minute, '1 min'],
  [10 * minute, '10 min'],
  [hour, '1 h'],
  [6 * hour, '6 h'],
  [day, '1 d'],
  [3 * day, '3 d'],
  [7 * day, '7 d'],
  [14 * day, '14 d'],
  [30 * day, '30 d'],
  [90 * day, '90 d'],
  [365 * day, '1 y'],
  [3_650 * day, '10 y'],
  [36_525 * day, '100 y'],
];

/** The shortest time line that has all marks. */
export function spanOf(marks: readonly Mark[], now: number): number {
  const last = (marks.at(-1)?.at ?? now) - now;
  return (spans.find(([ms]) => ms >= last) ?? spans[spans.length - 1])?.[0] ?? last;
}

/**
 * The position of a distance on the time line, from 0 to 1. The scale is a cube root: the next minutes, where automatic steps run,
 * and the next days, where payments settle and authorizations expire, both have room.
 */
export function positionOf(distance: number, span: number): number {
  return Math.cbrt(Math.min(1, Math.max(0, distance / span)));
}

export function distanceAt(position: number, span: number): number {
  return Math.min(1, Math.max(0, position)) ** 3 * span;
}

const tickGapMin = 0.13;

/** The ticks from the end to the start, as long as their labels do not touch. */
export function ticksOf(span: number): readonly { readonly position: number; readonly label: string }[] {
  const ticks: { position: number; label: string }[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (const [ms, label] of spans.filter(([length]) => length <= span).toReversed()) {
    const position = positionOf(ms, span);
    if (next - position < tickGapMin || position < tickGapMin) continue;
    ticks.push({ position, label });
    next = position;
  }
  return ticks.toReversed();
}

const snapGap = 0.02;

/** The instant at a position: that of a mark close by, or a round time. */
export function instantAt(position: number, marks: readonly Mark[], now: number, span: number): number {
  const close = marks
    .map(({ at }) => ({ at, gap: Math.abs(positionOf(at - now, span) - position) }))
    .filter(({ gap }) => gap <= snapGap)
    .sort((a, b) => a.gap - b.gap)[0];
  if (close) return close.at;
  const grain = span <= hour ? 1_000 : span <= 30 * day ? minute : hour;
  return Math.ceil((now + distanceAt(position, span)) / grain) * grain;
}
