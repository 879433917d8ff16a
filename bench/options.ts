import { parseArgs } from 'node:util';

const ROUNDS_MAX = 50;
const SECONDS_MAX = 300;

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly creates: boolean;
  readonly reads: boolean;
  /** Folder for processor profiles of the server processes. */
  readonly profile: string | undefined;
}

export const USAGE = `npm run bench -- [options]
  --quick               2 rounds of 2 seconds: shows that everything runs; the figures are rough
  --rounds N            rounds of each contender (5)
  --seconds N           seconds measured in a round (5)
  --only creates|reads  only that half
  --profile DIR         also write a .cpuprofile of each server process there`;

export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const { only } = values;
  if (only !== undefined && only !== 'creates' && only !== 'reads')
    throw new Error('--only is creates or reads.');
  return {
    rounds: wholeNumber('--rounds', values.rounds, values.quick ? 2 : 5, ROUNDS_MAX),
    seconds: wholeNumber('--seconds', values.seconds, values.quick ? 2 : 5, SECONDS_MAX),
    warmupSeconds: 1,
    creates: only !== 'reads',
    reads: only !== 'creates',
    profile: values.profile,
  };
}

function wholeNumber(name: string, given: string | undefined, otherwise: number, max: number): number {
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`${name} is a whole number from 1 to ${max}.`);
  return value;
}
