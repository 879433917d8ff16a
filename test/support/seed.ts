/** The seed of random choices in tests. A failed test prints it; `SANDBANK_TEST_SEED` repeats the same choices. */
export const testSeed = Number(process.env.SANDBANK_TEST_SEED ?? Date.now() % 1_000_000_000);

/** mulberry32: the same sequence for the same seed on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
