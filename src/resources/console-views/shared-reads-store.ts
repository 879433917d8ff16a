import type { Instant, Reader } from '../../kernel/table.ts';

export interface SharedRead<Value> {
  readonly value: Value;
  /** The number of rows that were read, which is what the read cost. */
  readonly scanned: number;
}

interface Entry<Value> {
  readonly at: Instant;
  readonly read: Promise<SharedRead<Value>>;
  /** 0 until the read has finished; until then it is shared. */
  cachedMs: number;
  isPending: boolean;
}

const entriesMax = 1_000;
const rowsPerCachedMs = 20;

/**
 * For statistics that many viewers poll. Concurrent callers with the same key share one read, and a large result is cached: for 5 s
 * after 100,000 rows, which takes about a tenth of a second to read, and for less after fewer, so that an open page follows a small
 * organization at once. Cached by reader, so that two servers in one process do not share entries.
 */
export function sharedReads<Value>(): (
  reader: Reader,
  key: string,
  now: Instant,
  read: () => Promise<SharedRead<Value>>,
) => Promise<Value> {
  const byReader = new WeakMap<Reader, Map<string, Entry<Value>>>();
  return async (reader, key, now, read) => {
    const entries = byReader.get(reader) ?? new Map<string, Entry<Value>>();
    byReader.set(reader, entries);
    const last = entries.get(key);
    if (last && (last.isPending || (now - last.at >= 0 && now - last.at < last.cachedMs)))
      return (await last.read).value;
    if (entries.size >= entriesMax) entries.clear();
    const entry: Entry<Value> = { at: now, read: read(), cachedMs: 0, isPending: true };
    entries.set(key, entry);
    try {
      const { value, scanned } = await entry.read;
      entry.cachedMs = scanned / rowsPerCachedMs;
      return value;
    } catch (error) {
      // Do not cache failures.
      if (entries.get(key) === entry) entries.delete(key);
      throw error;
    } finally {
      entry.isPending = false;
    }
  };
}
