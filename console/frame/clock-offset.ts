import type { Clock } from '../client/shapes.ts';
import { count } from '../parts/words.ts';

/** How far the application clock is ahead of real time, as a sentence. */
export function describeOffset({ status, offsetSeconds }: Pick<Clock, 'status' | 'offsetSeconds'>): string {
  if (status === 'frozen') return 'Frozen: it stands until it is advanced or reset.';
  if (offsetSeconds === 0) return 'Real time.';
  // Rounded to a minute: after an advance by a day the clock is behind by the seconds that the advance took.
  const minutes = Math.round(offsetSeconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const ahead =
    days > 0
      ? `${count(days, 'day')}, ${count(hours % 24, 'hour')}`
      : hours > 0
        ? count(hours, 'hour')
        : offsetSeconds < 60
          ? count(offsetSeconds, 'second')
          : count(minutes, 'minute');
  return `${ahead} ahead of real time.`;
}

/** The value of a `datetime-local` input as an instant in UTC; browsers omit the seconds when they are zero. */
export function instantOfInput(text: string): string {
  return `${text.length === 16 ? `${text}:00` : text}Z`;
}
