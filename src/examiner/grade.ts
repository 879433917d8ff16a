import type { CaseReport, Grade, Outcome, Severity } from './schema.ts';

export type Graded = Pick<CaseReport, 'severity' | 'outcome'>;

const weights: Readonly<Record<Severity, number>> = { critical: 10, major: 5, minor: 2 };
/** In halves, so that nothing is a fraction. */
const halves: Readonly<Record<Outcome, number>> = { passed: 2, warned: 1, failed: 0 };

/** From this many failed major cases on it is a D. */
const majorsOfD = 3;

/**
 * One critical failure is an F, whatever else is well: a receiver that can be forged, or that does not take real events, is
 * no receiver. Failed major cases make it C or D. Failed minor ones, and warnings beyond those of minor cases, make it a B.
 */
export function gradeOf(cases: readonly Graded[]): Grade {
  const count = (severity: Severity, outcome: Outcome) =>
    cases.filter((one) => one.severity === severity && one.outcome === outcome).length;
  if (count('critical', 'failed') > 0) return 'F';
  const majors = count('major', 'failed');
  if (majors >= majorsOfD) return 'D';
  if (majors > 0) return 'C';
  const trifles = count('minor', 'failed') + count('critical', 'warned') + count('major', 'warned');
  return trifles > 0 ? 'B' : 'A';
}

/** 0 to 100: the weights of what passed, and half of those of what was warned of, in all weights. Rounded down. */
export function scoreOf(cases: readonly Graded[]): number {
  let [earned, possible] = [0, 0];
  for (const { severity, outcome } of cases) {
    earned += weights[severity] * halves[outcome];
    possible += weights[severity] * halves.passed;
  }
  return possible === 0 ? 0 : Math.floor((100 * earned) / possible);
}

/** A and B pass. What was not tried is not known to be well. */
export function statusOf(grade: Grade, isComplete: boolean): 'passed' | 'failed' {
  return isComplete && (grade === 'A' || grade === 'B') ? 'passed' : 'failed';
}
