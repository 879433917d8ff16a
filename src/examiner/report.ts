import type { CaseReport, ExaminationReport, Outcome } from './schema.ts';

const marks: Readonly<Record<Outcome, string>> = { passed: 'ok', warned: 'warn', failed: 'FAIL' };
const columnsMax = 100;

/** A report for a terminal: a table of the cases, then the findings with advice. Without colours, so that it can be saved to a file. */
export function reportText(report: ExaminationReport): string {
  const { id, url, eventType, grade, score, status, cases, durationMs, message } = report;
  const requests = cases.reduce((sum, { attempts }) => sum + attempts.length, 0);
  const head = [
    `Examination ${id} of ${url}`,
    `${eventType} events, ${requests} ${requests === 1 ? 'request' : 'requests'}, ${(durationMs / 1_000).toFixed(1)} s`,
    '',
    `Grade ${grade}   ${score} of 100, ${status}`,
  ];
  const findings = cases.filter(({ outcome }) => outcome !== 'passed');
  return [
    ...head,
    ...(message === null ? [] : ['', ...wrapped(message, '')]),
    '',
    ...table(cases),
    ...(findings.length === 0 ? ['', 'No findings.'] : findings.flatMap(findingLines)),
    '',
  ].join('\n');
}

function table(cases: readonly CaseReport[]): readonly string[] {
  const rows = [
    ['', 'severity', 'case', 'expected', 'received'],
    ...cases.map(({ outcome, severity, name, expected, received }) => [
      marks[outcome],
      severity,
      name,
      expected,
      received,
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function findingLines({
  outcome,
  name,
  title,
  why,
  advice,
  example,
  attempts,
}: CaseReport): readonly string[] {
  const errors = new Set(attempts.flatMap(({ error }) => error ?? []));
  const unmentioned = [...errors].filter((error) => !advice?.includes(error));
  return [
    '',
    `${marks[outcome]}  ${name}: ${title}`,
    ...wrapped(why, '    '),
    ...unmentioned.flatMap((error) => wrapped(error, '    ')),
    ...wrapped(advice ?? '', '    '),
    ...(example === null ? [] : [`      ${example}`]),
  ];
}

/** Breaks lines at spaces. A word longer than a line is not broken, because it may be a URL. */
function wrapped(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const isFull = line !== '' && indent.length + line.length + 1 + word.length > columnsMax;
    if (isFull) lines.push(line);
    line = line === '' || isFull ? word : `${line} ${word}`;
  }
  return [...lines, line].filter((one) => one !== '').map((one) => indent + one);
}
