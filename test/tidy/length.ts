import type { Rule, Source } from './source.ts';

const linesMax = 350;
const linesLong = 300;

/** No shipped file is longer than 350 lines, except generated ones: a longer file should be split. */
export const length: Rule = (tree) =>
  longerThan(tree, linesMax).map(({ file, line }) => ({
    file,
    line,
    rule: 'length',
    message: `${line} lines; the maximum is ${linesMax}`,
  }));

/** Files that are close to the limit: a warning, not a failure. */
export function longFiles(tree: readonly Source[]): string[] {
  return longerThan(tree, linesLong).map(({ file, line }) => `${file} has ${line} lines`);
}

function longerThan(tree: readonly Source[], lines: number): { file: string; line: number }[] {
  return tree
    .filter(({ path }) => /^(?:src|sdk|cli)\/(?!generated\/)/.test(path))
    .map(({ path, text }) => ({ file: path, line: text.trimEnd().split('\n').length }))
    .filter(({ line }) => line > lines);
}
