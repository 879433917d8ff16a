import type { RetryProfile } from '../../client/shapes.ts';

/** The waits before each attempt, as docs/webhooks.md has them; the API does not tell them. */
export const retryProfiles: readonly {
  readonly value: RetryProfile;
  readonly label: string;
  readonly hint: string;
}[] = [
  {
    value: 'standard',
    label: 'Standard: 10 attempts in about 23 hours',
    hint: 'At once, then after 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h and 12 h.',
  },
  {
    value: 'fast',
    label: 'Fast: 5 attempts within a minute',
    hint: 'At once, then after 1 s, 4 s, 15 s and 30 s.',
  },
  { value: 'none', label: 'None: a single attempt', hint: 'What fails stays failed until it is replayed.' },
];

export function retryWords(profile: RetryProfile): { readonly label: string; readonly hint: string } {
  return retryProfiles.find(({ value }) => value === profile) ?? { label: profile, hint: '' };
}
