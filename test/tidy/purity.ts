import { builtinModules } from 'node:module';
import { type Import, importsOf } from './imports.ts';
import { isTest, matches, type Rule, type Source, type Violation } from './source.ts';

const impure: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![.\w$])async(?=\s*(?:function\b|\*|<|\(|[\w$]+\s*(?:=>|\()))/g, 'async'],
  [/(?<![.\w$])await\b/g, 'await'],
  [/(?<![.\w$])Promise\b/g, 'Promise'],
  [/(?<![.\w$])Date\s*\.\s*now\b/g, 'Date.now'],
  [/(?<![.\w$])Date\s*\(\s*\)|(?<![.\w$])new\s+Date\b(?!\s*\()/g, 'new Date() without an argument'],
  [/(?<![.\w$])performance\s*\./g, 'performance'],
  [/(?<![.\w$])Math\s*\.\s*random\b/g, 'Math.random'],
  [/\b(?:randomUUID|randomBytes|randomInt|randomFill|randomFillSync|getRandomValues)\b/g, 'randomness'],
  [/(?<![.\w$])(?:uuidv4|uuidv7|uuidv7obj)\s*\(/g, 'randomness'],
  [/(?<![.\w$])process\s*\./g, 'process'],
  [/(?<![.\w$])(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/g, 'timers'],
  [/(?<![.\w$])fetch\s*\(/g, 'fetch'],
  [/\bparseFloat\b/g, 'parseFloat'],
  [/\.\s*toFixed\b/g, 'toFixed'],
];

/** The pure functions of node:crypto. */
const pureCrypto = new Set(['createHash', 'hash', 'createHmac', 'timingSafeEqual']);
/** The names of node:net that only compute with addresses. */
const pureNet = new Set(['BlockList', 'isIP', 'isIPv4', 'isIPv6']);

/** The kernel, the ledger and the table, machine, commands, advance and scenario files of every slice are pure functions, without floating point. */
export const purity: Rule = (tree) =>
  tree
    .filter(({ path }) =>
      /^src\/(?:kernel|ledger)\/|^src\/resources\/[^/]+\/(?:[a-z-]+-)?(?:table|machine|commands|advance|scenario)\.ts$/.test(
        path,
      ),
    )
    .filter(({ path }) => path.endsWith('.ts') && !isTest(path))
    .flatMap((file) => [
      ...impure.flatMap(([pattern, what]) =>
        matches(file, pattern, 'purity', `${what} is not allowed in pure code`),
      ),
      ...importsOf(file).flatMap((one) => importViolations(file, one)),
    ]);

function importViolations(file: Source, one: Import): Violation[] {
  const violation = { file: file.path, line: one.line, rule: 'purity' };
  if (one.kind !== 'static') return [{ ...violation, message: 'pure code has static imports only' }];
  if (one.typeOnly || one.specifier === undefined || !isBuiltin(one.specifier)) return [];
  const module = one.specifier.replace(/^node:/, '');
  const allowed = { crypto: pureCrypto, net: pureNet }[module];
  if (allowed === undefined || !file.path.startsWith('src/kernel/')) {
    return [{ ...violation, message: `${one.specifier} is not allowed in pure code` }];
  }
  return importedNames(one.clause)
    .filter((name) => !allowed.has(name))
    .map((name) => ({ ...violation, message: `${name} of node:${module} is not a pure function` }));
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

/** `{ createHash, hash as digest }` -> createHash, hash; anything but a list in braces is returned unchanged. */
function importedNames(clause: string): string[] {
  const list = /^\{([^}]*)\}$/.exec(clause)?.[1];
  if (list === undefined) return [clause];
  return list.split(',').flatMap((item) => /^\s*(?!type\s)([\w$]+)/.exec(item)?.[1] ?? []);
}
