/**
 * How often a test repeats what it leaves to chance: kills, bodies, runs. `npm test` does what finds most mistakes within the
 * minutes that people wait for it; `SANDBANK_THOROUGH=on npm test` takes about twice as long.
 */
export const isThorough = process.env.SANDBANK_THOROUGH === 'on';

export function effort(usual: number, thorough: number): number {
  return isThorough ? thorough : usual;
}
