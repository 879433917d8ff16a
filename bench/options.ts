import { parseArgs } from 'node:util';

const ROUNDS_MAX = 50;
const SECONDS_MAX = 300;
const PAYMENTS = 1_000_000;
const PAYMENTS_MAX = 10_000_000;

const PARTS = ['creates', 'walk', 'reads', 'clock', 'deliveries', 'nodes', 'costs', 'log', 'start'] as const;
type Part = (typeof PARTS)[number];

export interface Peer {
  readonly name: string;
  readonly url: string;
}

export interface Options {
  readonly isHelp: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** Selected parts. */
  readonly parts: ReadonlySet<Part>;
  /** Only a full run, with long rounds, is written to RESULTS.md. */
  readonly isFull: boolean;
  /** Number of payments for `--scale`; undefined without it. */
  readonly scale: number | undefined;
  /** Only the capacity model, with `--capacity`. */
  readonly isCapacity: boolean;
  /** Other servers for `--peers`; empty without it. */
  readonly peers: readonly Peer[];
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
  --capacity            compare the capacity model of docs/SCALING.md with a load at fixed rates, nothing else; prints the results
  --peers NAME=URL,...  compare with running Stripe-compatible servers, nothing else; 3 rounds
  --profile DIR         write a .cpuprofile of each server process to DIR
  --help                print this text

Only a full run, without --quick, --only, --payments and --peers, writes bench/RESULTS.md. Other runs print the results.
A missed target exits with code 1, an invalid option with code 2.`;

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
      capacity: { type: 'boolean', default: false },
      peers: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, quick } = values;
  const peers = values.peers === undefined ? [] : values.peers.split(',').map(peerOption);
  const parts = PARTS.filter((part) => only === undefined || only === part);
  if (parts.length === 0) throw new Error(`--only must be one of ${PARTS.join(', ')}.`);
  return {
    isHelp: values.help,
    rounds: integerOption('--rounds', values.rounds, quick ? 2 : peers.length > 0 ? 3 : 5, ROUNDS_MAX),
    seconds: integerOption('--seconds', values.seconds, quick ? 2 : 5, SECONDS_MAX),
    warmupSeconds: 1,
    parts: new Set(parts),
    isFull: only === undefined && !quick && values.payments === undefined && peers.length === 0,
    scale: values.scale ? integerOption('--payments', values.payments, PAYMENTS, PAYMENTS_MAX) : undefined,
    isCapacity: values.capacity,
    peers,
    profile: values.profile,
  };
}

function peerOption(text: string): Peer {
  const [, name = '', url = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (!URL.canParse(url) || !/^http:\/\/[^/]+:\d+\/?$/.test(url))
    throw new Error(`--peers must be a list of NAME=http://HOST:PORT, not "${text}".`);
  return { name, url: url.replace(/\/$/, '') };
}

function integerOption(name: string, text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`${name} must be an integer from 1 to ${max}.`);
  return value;
}
