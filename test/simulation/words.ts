/** Sums in a form that can be compared and read. */

export function nonZero(books: Readonly<Record<string, bigint>>): Readonly<Record<string, bigint>> {
  return Object.fromEntries(Object.entries(books).filter(([, amount]) => amount !== 0n));
}

export function sorted(record: Readonly<Record<string, bigint>>): readonly (readonly [string, bigint])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function inWords(value: unknown): string {
  return String(
    JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? `${part}n` : (part as unknown))),
  );
}
