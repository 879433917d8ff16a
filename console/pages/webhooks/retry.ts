import type { RetryProfile } from '../../client/shapes.ts';

/** Retry schedules as in docs/webhooks.md; the API does not return them. */
export const retryProfiles: readonly {
  readonly value: RetryProfile;
  readonly label: string;
  readonly hint: string;
}[] = [
  {
    value: 'standard',
    label: 'Standard: 10 attempts in about 23 hours',
    hint: 'Immediately, then after 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h and 12 h.',
  },
  {
    value: 'fast',
    label: 'Fast: 5 attempts within a minute',
    hint: 'Immediately, then after 1 s, 4 s, 15 s and 30 s.',
  },
  {
    value: 'none',
    label: 'None: a single attempt',
    hint: 'Failed deliveries are not retried until you replay them.',
  },
];

export function retryProfileOf(profile: RetryProfile): { readonly label: string; readonly hint: string } {
  return retryProfiles.find(({ value }) => value === profile) ?? { label: profile, hint: '' };
}
