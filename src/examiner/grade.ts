import type { CaseReport, Grade, Outcome, Severity } from './schema.ts';

export type Graded = Pick<CaseReport, 'severity' | 'outcome'>;

const weights: Readonly<Record<Severity, number>> = { critical: 10, major: 5, minor: 2 };
/** In halves, so that all arithmetic is on integers. */
const halves: Readonly<Record<Outcome, number>> = { passed: 2, warned: 1, failed: 0 };

/** Failed major cases for a D. */
const majorsOfD = 3;

/**
 * One critical failure is an F, regardless of the other cases: the receiver accepts forged events or rejects real ones.
 * Failed major cases give a C or a D. Failed minor cases, and warnings in major or critical cases, give a B.
 */
export function gradeOf(cases: readonly Graded[]): Grade {
  const count = (severity: Severity, outcome: Outcome) =>
    cases.filter((one) => one.severity === severity && one.outcome === outcome).length;
  if (count('critical', 'failed') > 0) return 'F';
  const majors = count('major', 'failed');
  if (majors >= majorsOfD) return 'D';
  if (majors > 0) return 'C';
  const minorFindings = count('minor', 'failed') + count('critical', 'warned') + count('major', 'warned');
  return minorFindings > 0 ? 'B' : 'A';
}

/** 0 to 100: weights of passed cases plus half the weights of warned ones, divided by all weights, rounded down. */
export function scoreOf(cases: readonly Graded[]): number {
  let [earned, possible] = [0, 0];
  for (const { severity, outcome } of cases) {
    earned += weights[severity] * halves[outcome];
    possible += weights[severity] * halves.passed;
  }
  return possible === 0 ? 0 : Math.floor((100 * earned) / possible);
}

/** A and B pass. An incomplete examination does not, because some cases did not run. */
export function statusOf(grade: Grade, isComplete: boolean): 'passed' | 'failed' {
  return isComplete && (grade === 'A' || grade === 'B') ? 'passed' : 'failed';
}
