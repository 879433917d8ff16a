import type { Rule, Source, Violation } from './source.ts';

const banned = new Set(
  'service services manager managers helper helpers util utils common types misc interfaces lib'.split(' '),
);
const shape = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const exempt = /^(?:README\.md|\..+)$/;

/** Files and folders are named in one word or kebab-case, after what they hold and not after a drawer. */
export const names: Rule = (tree) =>
  tree.filter(({ path }) => /^(src|sdk|cli|console|test)\//.test(path)).flatMap(complaints);

function complaints({ path }: Source): Violation[] {
  return path.split('/').flatMap((name) => {
    const word = name.split(/[.-]/).find((part) => banned.has(part));
    const violation = { file: path, line: 1, rule: 'names' };
    if (word !== undefined) return [{ ...violation, message: `"${word}" says nothing about what is inside` }];
    if (!shape.test(name) && !exempt.test(name))
      return [{ ...violation, message: `"${name}" is not kebab-case` }];
    return [];
  });
}
