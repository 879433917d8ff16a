/** A JSON value in the syntax of a language, indented like a formatter would. */
interface Syntax {
  readonly indent: string;
  readonly widthMax: number;
  /** Around the members of an object on one line. */
  readonly padding: string;
  readonly name: (name: string) => string;
  readonly scalar: (value: string | number | boolean | null) => string;
}

const typescriptSyntax: Syntax = {
  indent: '  ',
  widthMax: 80,
  padding: ' ',
  name: (name) => {
    // `{ __proto__: … }` would set the prototype.
    if (name === '__proto__') return `['__proto__']`;
    return /^[A-Za-z_$][\w$]*$/.test(name) ? name : typescriptText(name);
  },
  scalar: (value) => (typeof value === 'string' ? typescriptText(value) : String(value)),
};

const pythonSyntax: Syntax = {
  indent: '    ',
  widthMax: 80,
  padding: '',
  // A JSON string is a Python string: all its escapes have the same meaning.
  name: (name) => JSON.stringify(name),
  scalar: (value) => {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return JSON.stringify(value);
  },
};

const jsonSyntax: Syntax = {
  indent: '  ',
  widthMax: 60,
  padding: '',
  name: (name) => JSON.stringify(name),
  scalar: (value) => JSON.stringify(value),
};

/** `depth` is the indentation of the line on which the value begins. */
export const typescriptLiteral = (value: unknown, depth = 0) => literal(typescriptSyntax, value, depth);
export const pythonLiteral = (value: unknown, depth = 0) => literal(pythonSyntax, value, depth);
export const jsonLiteral = (value: unknown, depth = 0) => literal(jsonSyntax, value, depth);

function literal(syntax: Syntax, value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null)
    return syntax.scalar(value as string | number | boolean | null);
  const isList = Array.isArray(value);
  const [start, end] = isList ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value).map(([name, member]) => {
    const text = literal(syntax, member, depth + 1);
    return isList ? text : `${syntax.name(name)}: ${text}`;
  });
  if (members.length === 0) return start + end;
  const padding = isList ? '' : syntax.padding;
  const line = `${start}${padding}${members.join(', ')}${padding}${end}`;
  if (!line.includes('\n') && line.length + depth * syntax.indent.length <= syntax.widthMax) return line;
  const inner = syntax.indent.repeat(depth + 1);
  // JSON has no comma after the last member.
  const last = syntax === jsonSyntax ? '' : ',';
  return `${start}\n${members.map((member) => inner + member).join(',\n')}${last}\n${syntax.indent.repeat(depth)}${end}`;
}

/** In single quotes, unless the text contains one. */
export function typescriptText(text: string): string {
  const json = JSON.stringify(text);
  // Every double quote of the text has a backslash in JSON, and needs none in single quotes.
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}
