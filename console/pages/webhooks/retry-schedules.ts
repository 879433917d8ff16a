import { useCapabilities } from '../../client/capabilities.ts';
import type { Capabilities, RetryProfile } from '../../generated/shapes.ts';
import { sentenceCase } from '../../parts/text.ts';

/** A retry profile as a form shows it. */
export interface RetrySchedule {
  readonly value: RetryProfile;
  readonly label: string;
  readonly hint: string;
}

export function useRetrySchedules(): readonly RetrySchedule[] {
  return retrySchedules(useCapabilities()?.retryProfiles ?? []);
}

export function retrySchedules(profiles: Capabilities['retryProfiles']): readonly RetrySchedule[] {
  return profiles.map(({ name, delaysSeconds: [, ...retries] }) => ({
    value: name,
    label: `${sentenceCase(name)}: ${attemptsText(retries)}`,
    hint:
      retries.length === 0
        ? 'Failed deliveries are not retried until you replay them.'
        : `Immediately, then after ${listed(retries.map(shortDuration))}.`,
  }));
}

function attemptsText(retries: readonly number[]): string {
  if (retries.length === 0) return 'a single attempt';
  return `${retries.length + 1} attempts in about ${longDuration(retries.reduce((sum, seconds) => sum + seconds, 0))}`;
}

const minute = 60;
const hour = 3_600;

function shortDuration(seconds: number): string {
  if (seconds >= hour) return `${seconds / hour} h`;
  return seconds >= minute ? `${seconds / minute} min` : `${seconds} s`;
}

function longDuration(seconds: number): string {
  if (seconds >= 2 * hour) return `${Math.round(seconds / hour)} hours`;
  return seconds >= 2 * minute ? `${Math.round(seconds / minute)} minutes` : `${seconds} seconds`;
}

function listed(parts: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(parts);
}
