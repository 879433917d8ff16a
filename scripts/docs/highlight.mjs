import { escapeHtml } from './html.mjs';

const words = {
  js: 'as async await break case catch class const continue default else export extends finally for from function if import in instanceof interface let new null of return switch throw true false try type typeof undefined while yield',
  python:
    'and as assert async await class continue def del elif else except False finally for from global if import in is lambda None not or pass raise return True try while with yield',
  sh: 'case do done elif else esac export fi for function if in local set then until while',
  sql: 'and as asc by create delete desc from group having in insert into is join limit not null on or order select set table update values where',
  yaml: 'true false null',
};
const languages = {
  ...{
    sh: 'sh',
    bash: 'sh',
    ts: 'js',
    tsx: 'js',
    js: 'js',
    json: 'js',
    python: 'python',
    py: 'python',
    sql: 'sql',
    yaml: 'yaml',
    http: 'sh',
  },
};
const comments = {
  js: '\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/',
  sh: '(?<=^|\\s)#[^\\n]*',
  python: '#[^\\n]*',
  yaml: '(?<=^|\\s)#[^\\n]*',
  sql: '--[^\\n]*',
};
/** Kept whole: the server puts its own address in the place of ours. */
const address = 'https?:\\/\\/[^\\s"\'`]+';
const strings = '"(?:\\\\.|[^"\\\\\\n])*"|\'(?:\\\\.|[^\'\\\\])*\'|`(?:\\\\.|[^`\\\\])*`';

/**
 * Colours comments, texts and the words of a language; enough to read by, in a screenful of code.
 * @param {string} text
 * @param {string} language
 */
export function highlight(text, language) {
  const kind = languages[language];
  if (kind === undefined) return escapeHtml(text);
  const pattern = new RegExp(
    `(?<comment>${comments[kind]})|(?<address>${address})|(?<string>${strings})|(?<word>\\b(?:${words[kind].replaceAll(' ', '|')})\\b(?![-.:\\w]))${kind === 'sh' ? '' : '|(?<number>\\b\\d[\\d_.]*\\b)'}`,
    'gm',
  );
  let html = '';
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [found] = match;
    const part = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0];
    html += `${escapeHtml(text.slice(end, match.index))}<span class="${part}">${escapeHtml(found)}</span>`;
    end = match.index + found.length;
  }
  return html + escapeHtml(text.slice(end));
}
