/**
 * How often a test repeats what it leaves to chance: bodies, runs, steps. `npm test` does what finds most mistakes within the minutes that people
 * wait for it; `npm run test:soak` sets `SANDBANK_THOROUGH=on`.
 */
export const isThorough = process.env.SANDBANK_THOROUGH === 'on';

export function effort(usual: number, thorough: number): number {
  return isThorough ? thorough : usual;
}
