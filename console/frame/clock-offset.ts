import type { Clock } from '../generated/shapes.ts';
import { pluralize, sentenceCase } from '../parts/text.ts';

/** The position of the application clock against real time, as a sentence. */
export function describeOffset({ status, offsetSeconds }: Pick<Clock, 'status' | 'offsetSeconds'>): string {
  const distance = Math.abs(offsetSeconds) < secondsShownMin ? 'at real time' : distanceText(offsetSeconds);
  if (status === 'frozen') return `Frozen ${distance}.`;
  return distance === 'at real time' ? 'Real time.' : `${sentenceCase(distance)}.`;
}

// An advance takes a moment itself.
const secondsShownMin = 2;

/** '4 days, 2 hours ahead of real time'. Rounded to minutes: an advance by a day takes some seconds itself. */
function distanceText(offsetSeconds: number): string {
  const seconds = Math.abs(offsetSeconds);
  const minutes = Math.round(seconds / 60);
  const parts =
    seconds < 60
      ? [pluralize(seconds, 'second')]
      : (
          [
            [Math.floor(minutes / 1_440), 'day'],
            [Math.floor(minutes / 60) % 24, 'hour'],
            [minutes % 60, 'minute'],
          ] as const
        )
          .filter(([count]) => count > 0)
          .slice(0, 2)
          .map(([count, unit]) => pluralize(count, unit));
  return `${parts.join(', ')} ${offsetSeconds > 0 ? 'ahead of' : 'behind'} real time`;
}

/** The value of a `datetime-local` input as an instant in UTC; browsers omit the seconds when they are zero. */
export function instantOfInput(text: string): string {
  return `${text.length === 16 ? `${text}:00` : text}Z`;
}
