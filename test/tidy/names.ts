import type { Rule, Source, Violation } from './source.ts';

const banned = new Set(
  'service services manager managers helper helpers util utils common types misc interfaces lib'.split(' '),
);
const shape = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const exempt = /^(?:README\.md|\..+)$/;

/** File and folder names are one word or kebab-case, and describe the content instead of a generic category. */
export const names: Rule = (tree) =>
  tree.filter(({ path }) => /^(src|sdk|cli|console|test)\//.test(path)).flatMap(violationsOf);

function violationsOf({ path }: Source): Violation[] {
  return path.split('/').flatMap((name) => {
    const word = name.split(/[.-]/).find((part) => banned.has(part));
    const violation = { file: path, line: 1, rule: 'names' };
    if (word !== undefined) return [{ ...violation, message: `"${word}" does not describe the content` }];
    if (!shape.test(name) && !exempt.test(name))
      return [{ ...violation, message: `"${name}" is not kebab-case` }];
    return [];
  });
}
