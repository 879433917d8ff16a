import type { Rule } from './source.ts';

const files = 'table|machine|commands|advance|scenario|prepare|store|api|views';
/** Files that only one slice has. */
const own: Readonly<Record<string, readonly string[]>> = {
  events: ['catalogue', 'examples', 'example-runner'],
  requests: ['histogram', 'redact', 'redact-json', 'redact-url'],
};

/**
 * The file names of a slice come from a closed list. A prefix names a part of the resource: `webhooks/replay-store.ts`. Tests may have
 * any name.
 */
export const slices: Rule = (tree) =>
  tree
    .filter(({ path }) => path.startsWith('src/resources/') && path !== 'src/resources/index.ts')
    .filter(({ path }) => !isInSlice(path))
    .map(({ path }) => ({
      file: path,
      line: 1,
      rule: 'slices',
      message: `a slice has the files ${files.split('|').join(', ')}, also with a prefix; the only file outside the slices is index.ts`,
    }));

function isInSlice(path: string): boolean {
  const [, slice, name] = /^src\/resources\/([a-z-]+)\/([a-z-]+)(?:\.test)?\.ts$/.exec(path) ?? [];
  if (slice === undefined || name === undefined) return false;
  return (
    path.endsWith('.test.ts') ||
    new RegExp(`^(?:[a-z-]+-)?(?:${files})$`).test(name) ||
    (own[slice] ?? []).includes(name)
  );
}
