/** One request of an .http file, with its variables not yet filled in. */
export interface HttpRequest {
  readonly title: string;
  readonly name: string | undefined;
  /** The status that the file says it is refused with. */
  readonly expected: number | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface HttpFile {
  readonly variables: Map<string, string>;
  readonly requests: readonly HttpRequest[];
}

/** Reads the part of the format that editors agree on: `###`, `@name = value`, `# @name`, request line, headers, body. */
export function parseHttp(text: string): HttpFile {
  const variables = new Map<string, string>();
  const requests = text.split(/^###/m).flatMap((part, place) => {
    const [title = '', ...lines] = part.split('\n');
    const kept = lines.filter((line) => {
      const [, name, value] = /^@(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
      if (name !== undefined) variables.set(name, value ?? '');
      return name === undefined;
    });
    if (place === 0) return [];
    const comments = kept.filter((line) => line.startsWith('#')).join('\n');
    const [head = '', ...rest] = kept
      .filter((line) => !line.startsWith('#'))
      .join('\n')
      .trim()
      .split('\n\n');
    const [line = '', ...headers] = head.split('\n');
    const [, method = '', url = ''] = /^([A-Z]+) (\S+)$/.exec(line) ?? [];
    return [
      {
        title: title.trim(),
        name: /@name (\w+)/.exec(comments)?.[1],
        expected: Number(/expect (\d{3})/.exec(comments)?.[1] ?? 0) || undefined,
        ...{ method, url },
        headers: headers.map((header) => {
          const colon = header.indexOf(':');
          return [header.slice(0, colon), header.slice(colon + 1).trim()] as const;
        }),
        body: rest.join('\n\n').trim(),
      },
    ];
  });
  return { variables, requests };
}

/** Puts in variables, and what `{{request.response.body.$.path}}` finds in an answer. */
export function fillIn(
  text: string,
  variables: ReadonlyMap<string, string>,
  answers: ReadonlyMap<string, unknown>,
): string {
  return text.replace(/\{\{([^}]+)\}\}/g, (_all, expression: string) => {
    const variable = variables.get(expression);
    if (variable !== undefined) return fillIn(variable, variables, answers);
    const [, name = '', path = ''] = /^(\w+)\.response\.body\.\$\.(.+)$/.exec(expression) ?? [];
    const found = path
      .split(/[.[\]]+/)
      .filter((step) => step !== '')
      .reduce<unknown>(
        (value, step) => (value as Record<string, unknown> | undefined)?.[step],
        answers.get(name),
      );
    if (typeof found !== 'string') throw new Error(`nothing stands for {{${expression}}}`);
    return found;
  });
}
