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

/** '4 days, 2 hours ahead of real time'. Rounded to the last unit that is shown: an advance by a day takes some seconds itself. */
function distanceText(offsetSeconds: number): string {
  const seconds = Math.abs(offsetSeconds);
  const minutes = Math.round(seconds / 60);
  const hours = Math.round(seconds / 3_600);
  const units: readonly (readonly [count: number, unit: string])[] =
    seconds < 60
      ? [[seconds, 'second']]
      : minutes < 1_440
        ? [
            [Math.floor(minutes / 60), 'hour'],
            [minutes % 60, 'minute'],
          ]
        : [
            [Math.floor(hours / 24), 'day'],
            [hours % 24, 'hour'],
          ];
  const parts = units.filter(([count]) => count > 0).map(([count, unit]) => pluralize(count, unit));
  return `${parts.join(', ')} ${offsetSeconds > 0 ? 'ahead of' : 'behind'} real time`;
}
