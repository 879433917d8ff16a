const regexAfterKeyword = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(' '),
);
const conditionKeywords = new Set(['if', 'while', 'for', 'with']);

/**
 * Blanks out everything that is not code: comments, and the content of strings, templates and regular expressions.
 * Positions in the result are positions in the source. Code inside `${}` stays.
 *
 * It is not a parser. The previous token decides the meaning of a `/`, which is right for all but contrived code. Strings and
 * regular expressions end at the end of the line at the latest, so a wrong guess never affects the next line.
 */
export function strip(text: string): string {
  const chars = text.split('');
  const braces: ('block' | 'template')[] = [];
  const parens: boolean[] = [];
  let last = '';
  let regexAfterParen = false;
  let at = 0;

  const blankTo = (from: number, to: number): void => {
    for (let index = from; index < to; index += 1) if (chars[index] !== '\n') chars[index] = ' ';
  };

  while (at < text.length) {
    const char = text.charAt(at);
    const start = at;
    if (/\s/.test(char)) {
      at += 1;
    } else if (text.startsWith('//', at)) {
      at = indexOrEnd(text, '\n', at);
      blankTo(start, at);
    } else if (text.startsWith('/*', at)) {
      at = Math.min(indexOrEnd(text, '*/', at + 2) + 2, text.length);
      blankTo(start, at);
    } else if (char === "'" || char === '"') {
      const end = endOfString(text, at);
      blankTo(start + 1, end.inside);
      at = end.after;
      last = 'literal';
    } else if (char === '`' || (char === '}' && braces.at(-1) === 'template')) {
      if (char === '}') braces.pop();
      const end = endOfTemplatePart(text, at + 1);
      blankTo(start + 1, end.inside);
      at = end.after;
      last = end.opensCode ? '{' : 'literal';
      if (end.opensCode) braces.push('template');
    } else if (char === '/' && mayStartRegex(last, regexAfterParen) && endOfRegex(text, at) > 0) {
      at = endOfRegex(text, at);
      blankTo(start + 1, at - 1);
      last = 'literal';
    } else if (/[\p{ID_Continue}$]/u.test(char)) {
      at = endOfWord(text, at);
      last = text.slice(start, at);
    } else {
      if (char === '(') parens.push(conditionKeywords.has(last));
      if (char === ')') regexAfterParen = parens.pop() ?? false;
      if (char === '{') braces.push('block');
      if (char === '}') braces.pop();
      at += 1;
      last = char;
    }
  }
  return chars.join('');
}

function mayStartRegex(last: string, regexAfterParen: boolean): boolean {
  if (last === ')') return regexAfterParen;
  if (last === ']' || last === 'literal') return false;
  return /^[\p{ID_Continue}$]/u.test(last) ? regexAfterKeyword.has(last) : true;
}

function indexOrEnd(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found;
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\p{ID_Continue}$]/u.test(text.charAt(at))) at += 1;
  return at;
}

/** A string without a closing quote ends with its line. */
function endOfString(text: string, from: number): { inside: number; after: number } {
  const quote = text.charAt(from);
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === quote) return { inside: at, after: at + 1 };
    else if (char === '\n') return { inside: at, after: at };
  }
  return { inside: text.length, after: text.length };
}

function endOfTemplatePart(
  text: string,
  from: number,
): { inside: number; after: number; opensCode: boolean } {
  for (let at = from; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '`') return { inside: at, after: at + 1, opensCode: false };
    else if (char === '$' && text.charAt(at + 1) === '{')
      return { inside: at, after: at + 2, opensCode: true };
  }
  return { inside: text.length, after: text.length, opensCode: false };
}

/** The position after the closing slash; 0 when the line ends before it, which means that it was a division. */
function endOfRegex(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\n') return 0;
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
  }
  return 0;
}
