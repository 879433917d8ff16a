import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { exampleEvent } from '../../src/examiner/example.ts';
import { type Graded, gradeOf, scoreOf, statusOf } from '../../src/examiner/grade.ts';
import { reportText } from '../../src/examiner/report.ts';
import {
  type CaseReport,
  type ExaminationReport,
  type Outcome,
  outcomes,
  type Severity,
  severities,
} from '../../src/examiner/schema.ts';
import { eventCatalogue } from '../../src/resources/index.ts';

const graded = (text: string): readonly Graded[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [severity, outcome] = word.split(':') as [Severity, Outcome];
      return { severity, outcome };
    });

describe('the grade', () => {
  test.each([
    ['critical:passed major:passed minor:passed', 'A', 100],
    ['critical:passed major:passed minor:warned', 'A', 94],
    ['critical:passed major:passed minor:failed', 'B', 88],
    ['critical:passed major:warned minor:passed', 'B', 85],
    ['critical:warned major:passed minor:passed', 'B', 70],
    ['critical:passed major:failed minor:passed', 'C', 70],
    ['critical:passed major:failed major:failed minor:failed', 'C', 45],
    ['critical:passed major:failed major:failed major:failed', 'D', 40],
    ['critical:failed major:passed minor:passed', 'F', 41],
    ['critical:failed', 'F', 0],
    ['', 'A', 0],
  ])('of %s is %s, and the score %i', (text, grade, score) => {
    expect([gradeOf(graded(text)), scoreOf(graded(text))]).toEqual([grade, score]);
  });

  test('never improves with a worse outcome, and neither does the score', () => {
    const order = 'FDCBA';
    for (const severity of severities) {
      const rest = graded('critical:passed major:passed major:failed minor:passed');
      const all = outcomes.map((outcome) => [...rest, { severity, outcome }]);
      const places = all.map((cases) => order.indexOf(gradeOf(cases)));
      expect(places).toEqual(places.toSorted((a, b) => b - a));
      const scores = all.map(scoreOf);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });

  test('A and B pass, and an incomplete examination never passes', () => {
    expect((['A', 'B', 'C', 'D', 'F'] as const).map((grade) => statusOf(grade, true))).toEqual([
      'passed',
      'passed',
      'failed',
      'failed',
      'failed',
    ]);
    expect(statusOf('A', false)).toBe('failed');
  });
});

const texts = { why: 'Because.', expected: '2xx', received: '204', advice: null, example: null } as const;
const fine: CaseReport = {
  ...texts,
  name: 'valid_signature',
  title: 'A correctly signed event is accepted',
  severity: 'critical',
  outcome: 'passed',
  attempts: [{ responseStatus: 204, durationMs: 3, error: null }],
};
const report: ExaminationReport = {
  id: 'exm_01m7epxwjmf7za77rhky2f93cc',
  url: 'http://127.0.0.1:9000/hook',
  eventType: 'payment.created',
  status: 'passed',
  grade: 'A',
  score: 100,
  complete: true,
  message: null,
  durationMs: 1_234,
  cases: [fine],
};

describe('the report as text', () => {
  test('without findings is a table', () => {
    expect(reportText(report)).toBe(`Examination exm_01m7epxwjmf7za77rhky2f93cc of http://127.0.0.1:9000/hook
payment.created events, 1 request, 1.2 s

Grade A   100 of 100, passed

    severity  case             expected  received
ok  critical  valid_signature  2xx       204

No findings.
`);
  });

  test('has the fix and the code example for each finding, with prose wrapped at 100 columns', () => {
    const bad: CaseReport = {
      ...texts,
      name: 'unknown_type',
      title: 'An event of an unknown type is accepted',
      severity: 'major',
      why: 'New types of events appear.',
      received: '422, then no answer',
      outcome: 'failed',
      attempts: [
        { responseStatus: 422, durationMs: 3, error: null },
        { responseStatus: null, durationMs: 10_000, error: 'Timeout: no response within 10 seconds.' },
      ],
      advice: 'Answer 2xx to types that you do not know, and ignore them. '.repeat(4).trim(),
      example: 'default: return response.writeHead(204).end();',
    };
    const text = reportText({
      ...report,
      status: 'failed',
      grade: 'C',
      score: 66,
      complete: false,
      message: 'It ended early.',
      cases: [fine, bad],
    });
    expect(text).toBe(`Examination exm_01m7epxwjmf7za77rhky2f93cc of http://127.0.0.1:9000/hook
payment.created events, 3 requests, 1.2 s

Grade C   66 of 100, failed

It ended early.

      severity  case             expected  received
ok    critical  valid_signature  2xx       204
FAIL  major     unknown_type     2xx       422, then no answer

FAIL  unknown_type: An event of an unknown type is accepted
    New types of events appear.
    Timeout: no response within 10 seconds.
    Answer 2xx to types that you do not know, and ignore them. Answer 2xx to types that you do not
    know, and ignore them. Answer 2xx to types that you do not know, and ignore them. Answer 2xx to
    types that you do not know, and ignore them.
      default: return response.writeHead(204).end();
`);
  });
});

test('the example event used without a server matches the event catalogue', () => {
  const known = eventCatalogue.find(({ type }) => type === exampleEvent.type);
  expect(Object.keys(exampleEvent.data)).toEqual(Object.keys(known?.example ?? {}));
  const check = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(known?.schema ?? false);
  check(exampleEvent.data);
  expect(check.errors).toBeNull();
});
