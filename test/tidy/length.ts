import type { Rule, Source } from './source.ts';

const linesMax = 350;
const linesLong = 300;

/** No file that we ship is longer than 350 lines, but for generated ones: what no longer fits on a few screens is two things. */
export const length: Rule = (tree) =>
  longerThan(tree, linesMax).map(({ file, line }) => ({
    file,
    line,
    rule: 'length',
    message: `${line} lines; ${linesMax} are the most`,
  }));

/** The files that will soon be too long: worth a word, not a failure. */
export function longFiles(tree: readonly Source[]): string[] {
  return longerThan(tree, linesLong).map(({ file, line }) => `${file} has ${line} lines`);
}

function longerThan(tree: readonly Source[], lines: number): { file: string; line: number }[] {
  return tree
    .filter(({ path }) => /^(?:src|sdk|cli)\/(?!generated\/)/.test(path))
    .map(({ path, text }) => ({ file: path, line: text.trimEnd().split('\n').length }))
    .filter(({ line }) => line > lines);
}
