/**
 * The number of repetitions of randomized tests: bodies, runs, steps. `npm test` uses the number that finds most bugs within a few minutes;
 * `npm run test:soak -- --randomized` sets `SANDBANK_THOROUGH=on`.
 */
export const isThorough = process.env.SANDBANK_THOROUGH === 'on';

export function effort(usual: number, thorough: number): number {
  return isThorough ? thorough : usual;
}
