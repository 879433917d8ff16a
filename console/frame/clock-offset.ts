import type { Clock } from '../client/shapes.ts';
import { pluralize } from '../parts/text.ts';

/** The offset of the application clock from real time, as a sentence. */
export function describeOffset({ status, offsetSeconds }: Pick<Clock, 'status' | 'offsetSeconds'>): string {
  if (status === 'frozen') return 'Frozen until it is advanced or reset.';
  if (offsetSeconds === 0) return 'Real time.';
  // Rounded to minutes: after an advance by a day the clock is behind by the seconds that the advance took.
  const minutes = Math.round(offsetSeconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const ahead =
    days > 0
      ? `${pluralize(days, 'day')}, ${pluralize(hours % 24, 'hour')}`
      : hours > 0
        ? pluralize(hours, 'hour')
        : offsetSeconds < 60
          ? pluralize(offsetSeconds, 'second')
          : pluralize(minutes, 'minute');
  return `${ahead} ahead of real time.`;
}

/** The value of a `datetime-local` input as an instant in UTC; browsers omit the seconds when they are zero. */
export function instantOfInput(text: string): string {
  return `${text.length === 16 ? `${text}:00` : text}Z`;
}
