import { fileURLToPath } from 'node:url';
import { lineAt, print, type Rule, type Source, type Violation } from './source.ts';
import { readTree } from './tree.ts';

/** The folders and files that the tree test checks. `npx tsx test/tidy/language.ts src docs` checks any others. */
export const checkedFolders: readonly string[] = [
  ...['bench/', 'cli/', 'console/', 'deploy/', 'docs/', 'examples/', 'scripts/', 'sdk/', 'src/', 'test/'],
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'vitest.config.ts'],
];

interface Avoided {
  /** Whole words, also as a part of an identifier: `told` finds `told`, `Told`, `toldNames`, `isTold` and `TOLD`. */
  readonly words?: string;
  /** A regular expression over prose. A space also matches the line break of a wrapped comment. */
  readonly phrase?: string;
  readonly instead: string;
}

const avoided: readonly Avoided[] = [
  { words: 'told tell tells telling untold', instead: 'emit, notify, report, log, distinguish' },
  { words: 'whoever whomever', instead: 'the noun: the client, the caller, the user' },
  { words: 'anew', instead: 'again, or the verb alone: recreate, restart, reload' },
  { words: 'mend mends mended mending', instead: 'fix, repair, resolution' },
  { words: 'ails ailing', instead: 'fails, degraded' },
  { words: 'borne', instead: 'tolerated, allowed' },
  { words: 'trifle trifles', instead: 'minor findings' },
  { words: 'wish wishes wished', instead: 'option, override, request' },
  { words: 'errand errands', instead: 'prepare step; for several steps saga or run' },
  { words: 'mint mints minted minting', instead: 'generate an id, IdGenerator' },
  { words: 'journey journeys', instead: 'AdvanceRun, run, sequence of requests' },
  { words: 'happenings', instead: 'effects' },
  { phrase: '(?<![A-Z])Happening(?![a-z])', instead: 'Effect' },
  { words: 'words', instead: 'message, label, description, text, terms' },
  { words: 'lies', instead: 'is, is stored, is located' },
  { words: 'stands', instead: 'is, is written, is frozen' },
  { words: 'kept', instead: 'stored, retained, cached, unchanged' },
  { words: 'made', instead: 'created, built, sent' },
  { words: 'asked', instead: 'requested, called, queried' },
  { words: 'look looks looked looking', instead: 'check, query, read, inspect' },
  {
    phrase: '(?<!\\b[Tt]here )(?<![A-Za-z])is no (?!longer\\b|more\\b|less\\b)[a-z]+',
    instead: 'is not a',
  },
  {
    phrase:
      '(?<![A-Za-z])of (?:its|their) own(?= (?:a[ns]d?|at|but|by|for|from|has|in|is|on|or|so|than|that|to|unless|when|which|while|with)\\b|\\s*(?:[^a-z\\s*/#]|$))',
    instead: 'its own, separate, dedicated',
  },
  { phrase: '(?<![A-Za-z])so many(?![a-z])', instead: 'the number: N, how many' },
  {
    phrase: '(?<![A-Za-z])(?:goes|go|went|going) on(?![a-z-])(?= [a-z]+ing\\b| with\\b|[,.;:])',
    instead: 'continues, keeps',
  },
  { phrase: '(?<![A-Za-z])(?:comes|came) to(?![a-z])', instead: 'reaches, results in' },
];

interface Allowed {
  readonly path: RegExp;
  /** Only inside this text; without it, in the whole file. */
  readonly text?: RegExp;
  readonly because: string;
}

const allowed: readonly Allowed[] = [
  { path: /^test\/tidy\/language(?:\.test)?\.ts$/, because: 'contains the words that the rule rejects' },
  {
    path: /^(?:sdk|cli|console)\/generated\/|^docs\/(?:errors|states|events|scenarios)\.md$/,
    because: 'golden file, generated from src',
  },
  { path: /./, text: /\bidempotencyKeptHours\b|\bhappened\b/, because: 'JSON field of the contract' },
  { path: /^test\/unit\/signature-check/, text: /\bfinding\.words\b/, because: 'JSON field of the CLI' },
  { path: /./, text: /\bstands_at\b|\bnot_kept\b/, because: 'database column' },
  { path: /./, text: /\b[Ll]ook(?:s|ed|ing)? up\b/, because: 'standard verb for a lookup' },
  { path: /./, text: /\bnotKept\b/, because: 'JSON field of the console API' },
  { path: /^console\//, text: /\bbreak-words\b/, because: 'Tailwind class' },
  {
    path: /^console\/(?:client\/shapes\.ts|pages\/audit\/verification\.tsx)$|audit\/api\.ts$|test\/api\/console-audit/,
    text: /\bwords\b/,
    because: 'JSON field of the console API',
  },
  {
    path: /^cli\/(?:commands\/)?(?:signature-check|verify)\.ts$|^test\/unit\/signature-check/,
    text: /\bwords\b|\blooked\b/,
    because: 'JSON field of the command line',
  },
  { path: /^cli\/completion\.ts$/, text: /\bwords\b/, because: 'variable of zsh and bash' },
  { path: /./, text: /organizations\.fork_made/, because: 'action in the audit trail' },
  { path: /^docs\/decisions\//, because: 'records of past decisions, which are not edited' },
  { path: /^CHANGELOG\.md$/, text: /howToMendIt/, because: 'a former name' },
];

const prose = /\.(?:[cm]?[jt]sx?|md|css|html|ya?ml|sh|py|go|php|http|bru|service)$/;

/** Only standard terms in code, comments and texts: a closed list of words and phrases, each with its replacement. */
export const language: Rule = (tree) => languageIn(tree, checkedFolders);

export function languageIn(tree: readonly Source[], folders: readonly string[]): Violation[] {
  return tree
    .filter(({ path }) => prose.test(path) && folders.some((folder) => path.startsWith(folder)))
    .flatMap(violationsOf);
}

/** One expression with a group for each row, so that each file is scanned once: 0.25 s of CPU time for the whole tree. */
const anyAvoided = new RegExp(avoided.map((row) => `(${expressionOf(row)})`).join('|'), 'g');

function expressionOf({ words, phrase }: Avoided): string {
  if (words === undefined) return (phrase ?? '').replaceAll(' ', String.raw`(?:\s|\*|//|#)+`);
  const capitalized = words.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const any = (list: string): string => `(?:${list.replaceAll(' ', '|')})`;
  return [
    `(?<![A-Za-z])${any(words)}(?![a-z])`,
    `(?<![A-Z])${any(capitalized)}(?![a-z])`,
    `(?<![A-Za-z])${any(words.toUpperCase())}(?![A-Za-z])`,
  ].join('|');
}

function violationsOf(file: Source): Violation[] {
  const exceptions = allowed.filter(({ path }) => path.test(file.path));
  if (exceptions.some(({ text }) => text === undefined)) return [];
  return [...file.text.matchAll(anyAvoided)]
    .filter((match) => !exceptions.some(({ text }) => text !== undefined && covers(file.text, match, text)))
    .map((match) => {
      const row = avoided[match.slice(1).findIndex((group) => group !== undefined)];
      const found = match[0].replace(/[\s*/#]+/g, ' ');
      return {
        file: file.path,
        line: lineAt(file.text, match.index),
        rule: 'language',
        message: `"${found}": write ${row?.instead} instead`,
      };
    });
}

/** Whether an allowed text on the same line contains the match. */
function covers(text: string, match: RegExpExecArray, allowedText: RegExp): boolean {
  const start = text.lastIndexOf('\n', match.index) + 1;
  const end = text.indexOf('\n', match.index);
  const line = text.slice(start, end < 0 ? text.length : end);
  const at = match.index - start;
  return [...line.matchAll(new RegExp(allowedText, 'g'))].some(
    ({ index, 0: found }) => index <= at && at + match[0].length <= index + found.length,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.length > 2 ? process.argv.slice(2) : checkedFolders;
  const violations = languageIn(readTree(), folders);
  for (const violation of violations) console.log(print(violation));
  console.log(`${violations.length} places`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
