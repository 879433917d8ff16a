import path from 'node:path/posix';
import { lineAt, type Source } from './source.ts';

export interface Import {
  /** `url` is `new URL('./x.ts', import.meta.url)`, as used for worker files. */
  readonly kind: 'static' | 'dynamic' | 'url';
  readonly typeOnly: boolean;
  /** The text between `import` and `from`. */
  readonly clause: string;
  /** Undefined when it is computed at run time. */
  readonly specifier: string | undefined;
  readonly line: number;
}

const importFrom = /(?<![.\w$])import\b(?!\s*[(.])([^;'"()=]*?)\bfrom\s*(?=['"])/g;
const exportFrom = /(?<![.\w$])export\s+((?:type\s+)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\}))\s*from\s*(?=['"])/g;
const importOnly = /(?<![.\w$])import\s*(?=['"])/g;
const importCall = /(?<![.\w$])import(?:\.meta\.resolve)?\s*\(\s*/g;
const moduleUrl = /\bnew\s+URL\s*\(([^;]*?),\s*import\.meta\.url\b/g;

/**
 * All module references of a file. `import { type A }` counts as an import of values, because the compiler emits it; only
 * `import type` is erased.
 */
export function importsOf(file: Source): Import[] {
  const found: Import[] = [];
  const add = (kind: Import['kind'], start: number, literal: number, clause = ''): void => {
    const typeOnly = /^\s*type\b(?!\s*(?:,|$))/.test(clause);
    const specifier = literalAt(file, literal);
    found.push({ kind, typeOnly, clause: clause.trim(), specifier, line: lineAt(file.code, start) });
  };
  for (const pattern of [importFrom, exportFrom, importOnly]) {
    for (const match of file.code.matchAll(pattern)) add('static', match.index, endOf(match), match[1]);
  }
  for (const match of file.code.matchAll(importCall)) add('dynamic', match.index, endOf(match));
  for (const match of file.code.matchAll(moduleUrl)) {
    // The path may be a choice between two literals, one for the sources and one for the build: both are checked.
    const quotes = [...(match[1] ?? '').matchAll(/(['"`])\s*\1/g)];
    const start = match.index + match[0].indexOf('(') + 1;
    for (const quote of quotes) add('url', match.index, start + quote.index);
  }
  return found.sort((a, b) => a.line - b.line);
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}

/** The path of a relative import from the root of the tree, as a TypeScript file; undefined for packages. */
export function resolve(from: string, specifier: string): string | undefined {
  if (!/^\.\.?\//.test(specifier)) return undefined;
  const target = path.join(path.dirname(from), specifier);
  return from.endsWith('.ts') || from.endsWith('.tsx') ? target.replace(/\.js(x?)$/, '.ts$1') : target;
}

/** The string literal that starts at a position; undefined when there is none or when it is computed at run time. */
function literalAt(file: Source, start: number): string | undefined {
  const quote = file.code.charAt(start);
  if (!['"', "'", '`'].includes(quote)) return undefined;
  const close = file.code.indexOf(quote, start + 1);
  if (close < 0 || file.code.slice(start + 1, close).trim() !== '') return undefined;
  if (/^\s*\+/.test(file.code.slice(close + 1))) return undefined;
  return file.text.slice(start + 1, close);
}
