import { importsOf, resolve } from './imports.ts';
import { isCode, isTest, type Rule, type Source, type Violation } from './source.ts';

/** Machines may build on each other, a refund on its payment, but never in a circle. */
export const circles: Rule = (tree) => {
  const files = new Map(
    tree
      .filter(({ path }) => path.startsWith('src/resources/') && isCode(path) && !isTest(path))
      .map((file) => [file.path, file]),
  );
  return [...files.values()].flatMap((file) => circleFrom(file, files));
};

function circleFrom(start: Source, files: ReadonlyMap<string, Source>): Violation[] {
  const visited = new Set<string>();
  const waiting = targetsOf(start, files).map((path) => ({ path, way: [start.path, path] }));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, way } = next;
    if (path === start.path)
      return [{ file: path, line: 1, rule: 'circles', message: `imports itself: ${way.join(' -> ')}` }];
    const file = files.get(path);
    if (visited.has(path) || !file) continue;
    visited.add(path);
    waiting.push(...targetsOf(file, files).map((target) => ({ path: target, way: [...way, target] })));
  }
  return [];
}

function targetsOf(file: Source, files: ReadonlyMap<string, Source>): string[] {
  return importsOf(file).flatMap(({ specifier }) => {
    const target = specifier === undefined ? undefined : resolve(file.path, specifier);
    return target !== undefined && files.has(target) ? [target] : [];
  });
}
