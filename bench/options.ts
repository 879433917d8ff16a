import { parseArgs } from 'node:util';

const ROUNDS_MAX = 50;
const SECONDS_MAX = 300;
const PAYMENTS = 1_000_000;
const PAYMENTS_MAX = 10_000_000;

export const PARTS = ['creates', 'walk', 'reads', 'clock', 'deliveries', 'nodes', 'costs', 'start'] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** What of the whole is run. */
  readonly parts: ReadonlySet<Part>;
  /** Only a full run, with rounds long enough to mean something, is worth keeping. */
  readonly isFull: boolean;
  /** As many payments are made to compare with few; undefined when that is not asked for. */
  readonly scale: number | undefined;
  /** Folder for processor profiles of the server processes. */
  readonly profile: string | undefined;
}

export const USAGE = `npm run bench -- [options]
  --quick               2 rounds of 2 seconds: shows that everything runs; the figures are rough
  --rounds N            rounds of each contender (5)
  --seconds N           seconds measured in a round (5)
  --only ${PARTS.join('|')}
                        only that part; walk brings the creates that it is compared with
  --scale               only that: a million payments against a thousand; replaces its section of bench/RESULTS.md
  --payments N          with --scale, another number of them; the figures are then only printed
  --profile DIR         also write a .cpuprofile of each server process there

Only a full run, without --quick, --only and --payments, writes to bench/RESULTS.md; others print what would be in it.`;

export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      scale: { type: 'boolean', default: false },
      payments: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const { only } = values;
  const parts = PARTS.filter((part) => only === undefined || only === part);
  if (parts.length === 0) throw new Error(`--only is one of ${PARTS.join(', ')}.`);
  return {
    rounds: wholeNumber('--rounds', values.rounds, values.quick ? 2 : 5, ROUNDS_MAX),
    seconds: wholeNumber('--seconds', values.seconds, values.quick ? 2 : 5, SECONDS_MAX),
    warmupSeconds: 1,
    parts: new Set(parts),
    isFull: only === undefined && !values.quick && values.payments === undefined,
    scale: values.scale ? wholeNumber('--payments', values.payments, PAYMENTS, PAYMENTS_MAX) : undefined,
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
