import { durationText } from '../parts/text.ts';

const hour = 3_600;

/** How long a rotated key or secret stays valid: not at all, an hour, or as long as the server's limits say. */
export function overlapOptions(defaultSeconds: number | undefined, secondsMax: number | undefined) {
  const seconds = [0, hour, defaultSeconds ?? 0, secondsMax ?? 0];
  return [...new Set(seconds)]
    .filter((one) => secondsMax === undefined || one <= secondsMax)
    .toSorted((one, other) => one - other)
    .map((one) => ({
      value: String(one),
      label: one === 0 ? 'Expires immediately' : `Expires in ${durationText(one)}`,
    }));
}
