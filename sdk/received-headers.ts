/** Request headers as frameworks provide them: Fetch headers, Node headers, or a plain object with names in any case. */
export type ReceivedHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export function readHeader(headers: ReceivedHeaders, name: string): string | undefined {
  if (typeof headers?.get === 'function') return headers.get(name) ?? undefined;
  const entry = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name);
  const value = entry?.[1] as string | readonly string[] | undefined;
  return typeof value === 'string' ? value : value?.[0];
}
