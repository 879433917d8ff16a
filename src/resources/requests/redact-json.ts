/** Decides what is stored for each token of the scan. */
export interface JsonRedactor {
  /** Whether the whole value of a field with this name is hidden. */
  readonly isSecret: (name: string) => boolean;
  /** Return a name or a scalar value in the form to store. `name` is the name of the field. */
  readonly name: (name: string) => string;
  readonly value: (value: unknown, name: string, isHidden: boolean) => unknown;
}

interface Container {
  readonly close: '}' | ']';
  readonly isHidden: boolean;
  /** The field whose value comes next; null for the items of a list. */
  name: string | null;
  expects: 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing';
}

const blank = /[ \t\r\n]*/y;
const scalar = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const depthMax = 40;

/**
 * Redacts incomplete or malformed JSON text, token by token, up to the first character that is not valid JSON. The rest of the
 * text is omitted. Names are decoded before they are checked. Linear in the length of the text.
 */
export function redactJsonPrefix(
  text: string,
  redactor: JsonRedactor,
): { readonly redacted: string; readonly read: number } {
  const out: string[] = [];
  const stack: Container[] = [{ close: ']', isHidden: false, name: null, expects: 'value' }];
  let at = 0;
  for (;;) {
    blank.lastIndex = at;
    const space = blank.exec(text)?.[0] ?? '';
    const start = at + space.length;
    const top = stack.at(-1);
    const char = text[start];
    if (top === undefined || char === undefined) break;
    const end = step(text, start, char, top, stack, redactor, (token) => out.push(space, token));
    if (end === undefined) break;
    at = end;
  }
  return { redacted: out.join(''), read: at };
}

/** Reads one token and returns the offset after it; undefined if the text is not valid JSON. */
function step(
  text: string,
  at: number,
  char: string,
  top: Container,
  stack: Container[],
  redactor: JsonRedactor,
  write: (token: string) => void,
): number | undefined {
  const { expects } = top;
  if (char === top.close && stack.length > 1 && expects.endsWith('-or-end')) {
    stack.pop();
    write(char);
    return at + 1;
  }
  if (expects === 'colon' || expects === 'comma-or-end') {
    if (char !== (expects === 'colon' ? ':' : ',')) return undefined;
    top.expects = expects === 'colon' || top.close === ']' ? 'value' : 'name';
    write(char);
    return at + 1;
  }
  if (expects.startsWith('name')) {
    const token = char === '"' ? stringAt(text, at) : undefined;
    if (token === undefined) return undefined;
    top.name = token.value;
    top.expects = 'colon';
    const name = redactor.name(token.value);
    write(name === token.value ? text.slice(at, token.end) : JSON.stringify(name));
    return token.end;
  }
  if (!expects.startsWith('value')) return undefined;
  top.expects = stack.length === 1 ? 'nothing' : 'comma-or-end';
  const name = top.name ?? '';
  const isHidden = top.isHidden || (top.name !== null && redactor.isSecret(name));
  if (char === '{' || char === '[') {
    if (stack.length > depthMax) return undefined;
    const isList = char === '[';
    const expected = isList ? 'value-or-end' : 'name-or-end';
    stack.push({ close: isList ? ']' : '}', isHidden, name: isList ? top.name : null, expects: expected });
    write(char);
    return at + 1;
  }
  const token = char === '"' ? stringAt(text, at) : scalarAt(text, at);
  if (token === undefined) return undefined;
  const redacted = redactor.value(token.value, name, isHidden);
  write(redacted === token.value ? text.slice(at, token.end) : JSON.stringify(redacted));
  return token.end;
}

function stringAt(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) return undefined;
  try {
    return { value: JSON.parse(text.slice(at, end + 1)) as string, end: end + 1 };
  } catch {
    return undefined;
  }
}

function scalarAt(text: string, at: number): { readonly value: unknown; readonly end: number } | undefined {
  scalar.lastIndex = at;
  const found = scalar.exec(text)?.[0];
  if (found === undefined) return undefined;
  try {
    return { value: JSON.parse(found), end: at + found.length };
  } catch {
    return undefined;
  }
}
