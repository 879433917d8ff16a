/**
 * The most likely intended candidate: the one with the fewest typing errors (an inserted, missing, wrong or swapped character),
 * at most one per three characters. Case is ignored.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  let best: string | undefined;
  let bestErrors = Math.floor(Math.min(wanted.length, lengthMax) / 3) + 1;
  if (wanted.length > lengthMax) return undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestErrors) continue;
    const errors = typingErrors(wanted, candidate.toLowerCase());
    if (errors >= bestErrors) continue;
    best = candidate;
    bestErrors = errors;
  }
  return best;
}

// A comparison costs the product of both lengths. No name of the API is longer.
const lengthMax = 64;

/** The optimal string alignment distance. Only the last three rows of the table are stored. */
function typingErrors(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const line = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      line[j] = Math.min(
        (last[j] ?? 0) + 1,
        (line[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = line;
  }
  return last[b.length] ?? 0;
}
