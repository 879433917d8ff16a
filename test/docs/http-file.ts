/** Replaces variables with their values, recursively. */
export function fillIn(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (all, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`${all} has no value`);
    return fillIn(value, variables);
  });
}

/** The text at a path such as `data[0].id`. */
export function textAt(body: unknown, path: string): string {
  const found = path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], body);
  if (typeof found !== 'string') throw new Error(`the response has no text at ${path}`);
  return found;
}
