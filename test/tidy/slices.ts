import type { Rule } from './source.ts';

/** A resource consists of machine.ts, store.ts and api.ts, with their tests, and of nothing else. */
export const slices: Rule = (tree) =>
  tree
    .filter(({ path }) => path.startsWith('src/resources/'))
    .filter(({ path }) => !/^src\/resources\/(index|[^/]+\/(machine|store|api))(\.test)?\.ts$/.test(path))
    .map(({ path }) => ({
      file: path,
      line: 1,
      rule: 'slices',
      message:
        'only machine.ts, store.ts and api.ts (and their tests) live in a resource, only index.ts beside them',
    }));
