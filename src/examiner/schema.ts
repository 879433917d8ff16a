import { Type } from 'typebox';
import { limits } from '../kernel/limits.ts';
import { id, nullable, resource } from '../kernel/schema.ts';

/** Critical: forged or lost events. Major: events that fail occasionally. Minor: inconveniences. */
export const severities = ['critical', 'major', 'minor'] as const;
export type Severity = (typeof severities)[number];

export const outcomes = ['passed', 'warned', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

const grades = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof grades)[number];

interface CaseDescription {
  readonly title: string;
  readonly severity: Severity;
}

const critical = (title: string): CaseDescription => ({ title, severity: 'critical' });
const major = (title: string): CaseDescription => ({ title, severity: 'major' });
const minor = (title: string): CaseDescription => ({ title, severity: 'minor' });

/** The test cases for a webhook receiver, in report order. */
const cases = {
  valid_signature: critical('A correctly signed event is accepted'),
  missing_signature: critical('An event without a signature is refused'),
  wrong_signature: critical('A forged signature is refused'),
  other_secret: critical('A signature by another secret is refused'),
  tampered_body: critical('A body that was changed after it was signed is refused'),
  partial_signature: critical('A signature that is only partly correct is refused'),
  other_algorithm: critical('A signature by another algorithm is refused'),
  no_leaks: critical('Responses contain no secret and no stack trace'),
  malformed_signature: major('A malformed signature header is refused'),
  unknown_version: major('A signature of an unknown version is refused'),
  missing_id: major('An event without a webhook-id is refused'),
  missing_timestamp: major('An event without a webhook-timestamp is refused'),
  stale_timestamp: major('An event that was signed ten minutes ago is refused'),
  future_timestamp: minor('An event that was signed ten minutes ahead is refused'),
  raw_body: major('The raw body is verified, not re-serialized JSON'),
  rotated_secret: major('One valid signature among several is enough'),
  duplicate: major('The same event twice is accepted twice'),
  disorder: major('A newer event before an older one is accepted'),
  unknown_type: major('An event of an unknown type is accepted'),
  extra_fields: major('Unknown fields are accepted'),
  split_body: major('A body that arrives slowly and in pieces is read completely'),
  quick_answer: major('Every answer comes within five seconds'),
  burst: major('Twenty events at once are all accepted'),
  large_payload: minor('An event of 200 KiB is accepted'),
  get_request: minor('A GET request does not cause a server error'),
};

export type CaseName = keyof typeof cases;

export const caseNames = Object.keys(cases) as readonly CaseName[];

export const caseDescriptions: Readonly<Record<CaseName, CaseDescription>> = cases;

/** One request to the receiver and its result. */
export interface AttemptView {
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
  /** A short summary of the responses. */
  readonly received: string;
  readonly outcome: Outcome;
  readonly attempts: readonly AttemptView[];
  /** How to fix it; null when it passed. */
  readonly advice: string | null;
  /** A line of code that fixes it, where one does. */
  readonly example: string | null;
}

export interface ExaminationReport {
  readonly id: string;
  readonly url: string;
  readonly eventType: string;
  readonly status: 'passed' | 'failed';
  readonly grade: Grade;
  readonly score: number;
  /** Whether every requested case ran. */
  readonly complete: boolean;
  /** Why the examination ended early; null when it did not. */
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
      'A: no findings. B: minor findings only. C: one or two major cases failed. D: three or more major cases failed. F: a critical case failed.',
  }),
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  complete: Type.Boolean({ description: 'Whether every requested case ran.' }),
  message: nullable(Type.String({ description: 'Why the examination ended early.' })),
  durationMs: milliseconds('Total duration in milliseconds.'),
  cases: Type.Array(
    Type.Object({
      name: Type.Enum([...caseNames]),
      title: Type.String(),
      severity: Type.Enum([...severities]),
      why: Type.String({ description: 'Why it matters.' }),
      expected: Type.String(),
      received: Type.String({ description: 'A short summary of the responses.' }),
      outcome: Type.Enum([...outcomes]),
      attempts: Type.Array(
        Type.Object({
          responseStatus: nullable(Type.Integer()),
          durationMs: milliseconds('Response time in milliseconds.'),
          error: nullable(Type.String({ description: 'Why there was no response.' })),
        }),
        { maxItems: limits.examinationAtOnceMax },
      ),
      advice: nullable(Type.String({ description: 'How to fix it.' })),
      example: nullable(Type.String({ description: 'A line of code that fixes it, where one does.' })),
    }),
  ),
});
