const attemptsMax = 2_000;

/** Removes parts of a failing input, and makes its characters plain, as long as it fails. */
export async function shrink(input: string, fails: (input: string) => Promise<boolean>): Promise<string> {
  let best = input;
  let attempts = 0;
  const attempt = async (candidate: string): Promise<boolean> => {
    attempts += 1;
    if (candidate === best || attempts > attemptsMax || !(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (
    let length = Math.ceil(best.length / 2);
    length >= 1;
    length = length === 1 ? 0 : Math.ceil(length / 2)
  )
    for (let at = 0; at < best.length; ) {
      const isRemoved = await attempt(best.slice(0, at) + best.slice(at + length));
      if (!isRemoved) at += length;
    }
  for (const plain of ['a', '0'])
    for (let at = 0; at < best.length; at += 1)
      if (!/[a0]/.test(best.charAt(at))) await attempt(best.slice(0, at) + plain + best.slice(at + 1));
  return best;
}
