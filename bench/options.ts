import { parseArgs } from 'node:util';

const ROUNDS_MAX = 50;
const SECONDS_MAX = 300;
const PAYMENTS = 1_000_000;
const PAYMENTS_MAX = 10_000_000;

const PARTS = ['creates', 'walk', 'reads', 'clock', 'deliveries', 'nodes', 'costs', 'start'] as const;
type Part = (typeof PARTS)[number];

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** Selected parts. */
  readonly parts: ReadonlySet<Part>;
  /** Only a full run, with long rounds, is written to RESULTS.md. */
  readonly isFull: boolean;
  /** Number of payments for `--scale`; undefined without it. */
  readonly scale: number | undefined;
  /** Folder for processor profiles of the server processes. */
  readonly profile: string | undefined;
}

export const USAGE = `npm run bench -- [options]
  --quick               2 rounds of 2 seconds: a smoke test; the results are rough
  --rounds N            rounds per benchmark (default 5)
  --seconds N           seconds per round (default 5)
  --only ${PARTS.join('|')}
                        run only this part; walk includes the creates that it is compared with
  --scale               compare a million payments with a thousand, nothing else; replaces its section of bench/RESULTS.md
  --payments N          with --scale, the number of payments; prints the results only
  --profile DIR         write a .cpuprofile of each server process to DIR

Only a full run, without --quick, --only and --payments, writes bench/RESULTS.md. Other runs print it.`;

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
  if (parts.length === 0) throw new Error(`--only must be one of ${PARTS.join(', ')}.`);
  return {
    rounds: integerOption('--rounds', values.rounds, values.quick ? 2 : 5, ROUNDS_MAX),
    seconds: integerOption('--seconds', values.seconds, values.quick ? 2 : 5, SECONDS_MAX),
    warmupSeconds: 1,
    parts: new Set(parts),
    isFull: only === undefined && !values.quick && values.payments === undefined,
    scale: values.scale ? integerOption('--payments', values.payments, PAYMENTS, PAYMENTS_MAX) : undefined,
    profile: values.profile,
  };
}

function integerOption(name: string, text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`${name} must be an integer from 1 to ${max}.`);
  return value;
}
