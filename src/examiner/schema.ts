import { Type } from 'typebox';
import { limits } from '../kernel/limits.ts';
import { id, nullable, resource } from '../kernel/schema.ts';

/** How much it matters: forged or lost events, events that fail now and then, and what is a nuisance. */
export const severities = ['critical', 'major', 'minor'] as const;
export type Severity = (typeof severities)[number];

export const outcomes = ['passed', 'warned', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

export const grades = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof grades)[number];

interface CaseWords {
  readonly title: string;
  readonly severity: Severity;
}

const critical = (title: string): CaseWords => ({ title, severity: 'critical' });
const major = (title: string): CaseWords => ({ title, severity: 'major' });
const minor = (title: string): CaseWords => ({ title, severity: 'minor' });

/** What a receiver of webhooks is examined in, in the order in which it is reported. */
const cases = {
  valid_signature: critical('A correctly signed event is accepted'),
  missing_signature: critical('An event without a signature is refused'),
  wrong_signature: critical('A made-up signature is refused'),
  other_secret: critical('A signature by another secret is refused'),
  tampered_body: critical('A body that was changed after it was signed is refused'),
  partial_signature: critical('A signature that is right only in part is refused'),
  other_algorithm: critical('A signature by another algorithm is refused'),
  no_leaks: critical('Answers give away no secret and no stack trace'),
  malformed_signature: major('A signature header that makes no sense is refused'),
  unknown_version: major('A signature of an unknown version is refused'),
  missing_id: major('An event without a webhook-id is refused'),
  missing_timestamp: major('An event without a webhook-timestamp is refused'),
  stale_timestamp: major('An event that was signed ten minutes ago is refused'),
  future_timestamp: minor('An event that was signed ten minutes ahead is refused'),
  raw_body: major('The bytes that came are verified, not JSON that was written anew'),
  rotated_secret: major('One good signature among several is enough'),
  duplicate: major('The same event twice is accepted twice'),
  disorder: major('A newer event before an older one is accepted'),
  unknown_type: major('An event of an unknown type is accepted'),
  extra_fields: major('Fields that were added later are let through'),
  split_body: major('A body that arrives slowly and in pieces is read whole'),
  quick_answer: major('Every answer comes within five seconds'),
  burst: major('Twenty events at once are all accepted'),
  large_payload: minor('An event of 200 KiB is accepted'),
  get_request: minor('A GET does not make it fail'),
};

export type CaseName = keyof typeof cases;

export const caseNames = Object.keys(cases) as readonly CaseName[];

export const caseWords: Readonly<Record<CaseName, CaseWords>> = cases;

/** One request to the receiver, and what came of it. */
export interface AttemptShown {
  readonly responseStatus: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

export interface CaseReport {
  readonly name: CaseName;
  readonly title: string;
  readonly severity: Severity;
  readonly why: string;
  readonly expected: string;
  /** What came instead, or as expected, in a few words. */
  readonly received: string;
  readonly outcome: Outcome;
  readonly attempts: readonly AttemptShown[];
  /** How to mend it; null when it passed. */
  readonly advice: string | null;
  /** A line of code that mends it, where one does. */
  readonly example: string | null;
}

export interface ExaminationReport {
  readonly id: string;
  readonly url: string;
  readonly eventType: string;
  readonly status: 'passed' | 'failed';
  readonly grade: Grade;
  readonly score: number;
  /** Whether every case that was asked for was tried. */
  readonly complete: boolean;
  /** Why it ended early; null when it did not. */
  readonly message: string | null;
  readonly durationMs: number;
  readonly cases: readonly CaseReport[];
}

const milliseconds = (description: string) => Type.Integer({ minimum: 0, description });

export const Examination = resource('examination', ['passed', 'failed'], {
  id: Type.String({
    ...id('examination'),
    description: 'Sent with every request as `Sandbank-Examination`.',
  }),
  webhookId: id('webhook'),
  url: Type.String(),
  eventType: Type.String({ description: 'The type of the events that were sent.' }),
  grade: Type.Enum([...grades], {
    description:
      'A: nothing to mend. B: trifles. C: one or two major cases failed. D: three or more. F: a critical one.',
  }),
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  complete: Type.Boolean({ description: 'Whether every case that was asked for was tried.' }),
  message: nullable(Type.String({ description: 'Why it ended early.' })),
  durationMs: milliseconds('How long all of it took.'),
  cases: Type.Array(
    Type.Object({
      name: Type.Enum([...caseNames]),
      title: Type.String(),
      severity: Type.Enum([...severities]),
      why: Type.String({ description: 'Why it matters.' }),
      expected: Type.String(),
      received: Type.String({ description: 'What came, in a few words.' }),
      outcome: Type.Enum([...outcomes]),
      attempts: Type.Array(
        Type.Object({
          responseStatus: nullable(Type.Integer()),
          durationMs: milliseconds('How long the answer took.'),
          error: nullable(Type.String({ description: 'Why there was no answer.' })),
        }),
        { maxItems: limits.examinationAtOnceMax },
      ),
      advice: nullable(Type.String({ description: 'How to mend it.' })),
      example: nullable(Type.String({ description: 'A line of code that mends it, where one does.' })),
    }),
  ),
});
