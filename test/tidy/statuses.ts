import { isTest, matches, type Rule } from './source.ts';

/** HTTP status numbers appear only in the error catalogue and in src/http; other code uses error codes. */
export const statuses: Rule = (tree) =>
  tree
    .filter(({ path }) => path.startsWith('src/') && path.endsWith('.ts') && !isTest(path))
    .filter(({ path }) => path !== 'src/kernel/errors.ts' && !path.startsWith('src/http/'))
    .flatMap((file) =>
      matches(
        file,
        /\.\s*(?:code|status|writeHead)\s*\(\s*[1-5]\d\d\b|\bstatusCode\s*[:=]\s*[1-5]\d\d\b/g,
        'statuses',
        'an HTTP status may appear only in src/kernel/errors.ts or src/http',
      ),
    );
