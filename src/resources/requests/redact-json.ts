/** What a scan does with the tokens it finds. */
export interface JsonJudge {
  /** Whether all that a field with this name holds is hidden. */
  readonly isSecret: (name: string) => boolean;
  /** A name or a scalar value as it may be stored. `name` is that of the field it belongs to. */
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
 * Redacts JSON text that is incomplete or malformed, token by token, and stores nothing that it cannot read: from the first
 * character that is not JSON on, the text is left out. Names are decoded before they are judged. Linear in the length of the text.
 */
export function redactJsonPrefix(
  text: string,
  judge: JsonJudge,
): { readonly shown: string; readonly read: number } {
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
    const end = step(text, start, char, top, stack, judge, (shown) => out.push(space, shown));
    if (end === undefined) break;
    at = end;
  }
  return { shown: out.join(''), read: at };
}

/** Reads one token and gives the place behind it; undefined where the text is not JSON. */
function step(
  text: string,
  at: number,
  char: string,
  top: Container,
  stack: Container[],
  judge: JsonJudge,
  show: (shown: string) => void,
): number | undefined {
  const { expects } = top;
  if (char === top.close && stack.length > 1 && expects.endsWith('-or-end')) {
    stack.pop();
    show(char);
    return at + 1;
  }
  if (expects === 'colon' || expects === 'comma-or-end') {
    if (char !== (expects === 'colon' ? ':' : ',')) return undefined;
    top.expects = expects === 'colon' || top.close === ']' ? 'value' : 'name';
    show(char);
    return at + 1;
  }
  if (expects.startsWith('name')) {
    const token = char === '"' ? stringAt(text, at) : undefined;
    if (token === undefined) return undefined;
    top.name = token.value;
    top.expects = 'colon';
    const name = judge.name(token.value);
    show(name === token.value ? text.slice(at, token.end) : JSON.stringify(name));
    return token.end;
  }
  if (!expects.startsWith('value')) return undefined;
  top.expects = stack.length === 1 ? 'nothing' : 'comma-or-end';
  const name = top.name ?? '';
  const isHidden = top.isHidden || (top.name !== null && judge.isSecret(name));
  if (char === '{' || char === '[') {
    if (stack.length > depthMax) return undefined;
    const isList = char === '[';
    const expected = isList ? 'value-or-end' : 'name-or-end';
    stack.push({ close: isList ? ']' : '}', isHidden, name: isList ? top.name : null, expects: expected });
    show(char);
    return at + 1;
  }
  const token = char === '"' ? stringAt(text, at) : scalarAt(text, at);
  if (token === undefined) return undefined;
  const kept = judge.value(token.value, name, isHidden);
  show(kept === token.value ? text.slice(at, token.end) : JSON.stringify(kept));
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
