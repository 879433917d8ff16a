/** The figures of a run, as a table for docs/reliability.md. */
export interface Outcome {
  readonly name: string;
  readonly round: number;
  /** The longest time without an acknowledged write, in milliseconds: without a fault, and with it. */
  readonly before: number;
  readonly pause: number;
  /** Until all machines had their roles again. */
  readonly wholeAfter: number;
  readonly payments: number;
  readonly events: number;
  readonly repeated: number;
  readonly retries: number;
}

export function reportOf(outcomes: readonly Outcome[], seed: number): string {
  const names = [...new Set(outcomes.map(({ name }) => name))];
  const lines = names.map((name) => {
    const own = outcomes.filter((outcome) => outcome.name === name);
    const pauses = own.map(({ pause }) => pause);
    const recoveries = own.map(({ wholeAfter }) => wholeAfter);
    return `| ${name} | ${own.length} | ${seconds(median(pauses))} | ${seconds(Math.max(...pauses))} | ${seconds(median(recoveries))} |`;
  });
  const sum = (pick: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const usual = Math.round(median(outcomes.map(({ before }) => before)));
  return [
    '| fault | runs | seconds without writes, median | worst | cluster complete after |',
    '|---|---|---|---|---|',
    ...lines,
    '',
    `Seed ${seed}: ${sum(({ payments }) => payments)} payments, ${sum(({ events }) => events)} events, of which ` +
      `${sum(({ repeated }) => repeated)} were delivered again, ${sum(({ retries }) => retries)} requests sent again. ` +
      `The longest pause without a fault was ${usual} ms (median).`,
    ...outcomes.map((outcome) => JSON.stringify(outcome)),
  ].join('\n');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
