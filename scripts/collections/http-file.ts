/** One request of an .http file, with its variables not yet replaced. */
export interface HttpRequest {
  readonly title: string;
  readonly name: string | undefined;
  /** The status that `# expect` states; undefined for any success. */
  readonly expected: number | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Variables of the file that this response provides, each with its path in the body. */
  readonly captures: readonly (readonly [variable: string, path: string])[];
}

export interface HttpFile {
  /** Variables that do not come from a response. */
  readonly variables: ReadonlyMap<string, string>;
  readonly requests: readonly HttpRequest[];
}

const captured = /^\{\{(\w+)\.response\.body\.\$\.([\w.[\]]+)\}\}$/;

/** Parses the subset of REST Client's syntax that examples/sandbank.http uses: `###`, `@name = value`, `# @name`, request line, headers, body. */
export function parseHttp(text: string): HttpFile {
  const assignments = [...text.matchAll(/^@(\w+)\s*=\s*(.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
    source: captured.exec(value),
  }));
  const requests = text
    .split(/^###/m)
    .slice(1)
    .map((part) => parseRequest(part))
    .map((request) => ({
      ...request,
      captures: assignments.flatMap(({ name, source }) =>
        source && source[1] === request.name ? [[name, source[2] ?? ''] as const] : [],
      ),
    }));
  const variables = assignments
    .filter(({ source }) => !source)
    .map(({ name, value }) => [name, value] as const);
  const known = new Set(assignments.map(({ name }) => name));
  const used = requests.flatMap((request) => [...JSON.stringify(request).matchAll(/\{\{(.+?)\}\}/g)]);
  const unknown = used.find(([, name = '']) => !known.has(name));
  if (unknown) throw new Error(`${unknown[0]} is not a variable of the file`);
  return { variables: new Map(variables), requests };
}

function parseRequest(part: string): Omit<HttpRequest, 'captures'> {
  const [title = '', ...lines] = part.split('\n');
  const comments = lines.filter((line) => line.startsWith('#')).join('\n');
  const [head = '', ...body] = lines
    .filter((line) => !/^[#@]/.test(line))
    .join('\n')
    .trim()
    .split('\n\n');
  const [line = '', ...headers] = head.split('\n');
  const [, method, url] = /^([A-Z]+) (\S+)$/.exec(line) ?? [];
  if (method === undefined || url === undefined) throw new Error(`"${title.trim()}" has no request line`);
  const expected = /expect (\d{3})/.exec(comments)?.[1];
  return {
    title: title.trim(),
    name: /@name (\w+)/.exec(comments)?.[1],
    expected: expected === undefined ? undefined : Number(expected),
    method,
    url,
    headers: headers.map((header) => {
      const colon = header.indexOf(':');
      return [header.slice(0, colon), header.slice(colon + 1).trim()] as const;
    }),
    body: body.join('\n\n'),
  };
}
