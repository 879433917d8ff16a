/**
 * Remembers the last result of a pure function of a text. One move needs the same id at least twice in a row, and a hash with its
 * encoding costs 2 µs: an expiry takes two hashes instead of four.
 */
export function rememberLast(compute: (text: string) => string): (text: string) => string {
  let last: { readonly text: string; readonly result: string } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
