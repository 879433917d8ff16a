import type { Command } from 'commander';
import { declare, group } from '../declare.ts';

const data = ['--data <dir>', 'where the embedded database lives (SANDBANK_DATA_DIR, ./.sandbank)'] as const;

/**
 * The commands that `src/main.ts` runs. They are handed over before this program reads anything (see hand-over.ts); here they
 * are declared for help and completion, and a test compares the flags with those that are read there.
 */
const handedOver = () => Promise.reject(new Error('this command is run by the server program'));

export function addServer(program: Command): void {
  declare(program, 'start', {
    summary: 'Run the server',
    details:
      'It is what "sandbank" with flags alone does, too. "npm start -- --help" lists the variables without a flag.',
    options: [
      ['--port <port>', 'port to listen on; 0 takes a free one (PORT, 4000)'],
      ['--host <host>', 'address to listen on (HOST, 127.0.0.1)'],
      [
        '--allowed-hosts <list>',
        'hosts that requests may name, separated by commas (SANDBANK_ALLOWED_HOSTS)',
      ],
      [
        '--data <dir>',
        'where the embedded database lives, or "memory" to keep nothing (SANDBANK_DATA_DIR, ./.sandbank)',
      ],
      [
        '--seed <file>',
        'seed file: organizations, applications and keys to declare, or "none" (SANDBANK_SEED, ./sandbank.seed.json if it exists; with DATABASE_URL none)',
      ],
      [
        '--deterministic <seed>',
        'ids and times follow from the seed and the requests (SANDBANK_DETERMINISTIC)',
      ],
      ['--import <file>', 'a snapshot to import at the start, unless its organizations are there already'],
      [
        '--export-on-exit <file>',
        'write a snapshot of everything there on SIGTERM and SIGINT, with secrets; .gz packs it',
      ],
      ['--role <role>', 'all, api or worker (SANDBANK_ROLE, all)'],
      ['--metrics', 'serve Prometheus metrics at /metrics (SANDBANK_METRICS=on)'],
    ],
    examples: [
      ['start', 'the embedded database, kept in ./.sandbank'],
      ['start --port 0 --data memory', 'a free port, and nothing is kept'],
      ['start --seed seed.json --metrics'],
      ['start --data memory --import acme.jsonl --export-on-exit acme.jsonl', 'go on where it ended'],
    ],
    run: handedOver,
  });
  declare(program, 'verify', {
    summary: 'Recompute every balance from the postings of the ledger and report any difference',
    details:
      'Of the embedded database while no server uses it, or of the one that DATABASE_URL names at any time.',
    options: [
      data,
      ['--print-heads', 'print the last seal of each audit trail, to be kept elsewhere'],
      ['--heads <file>', 'compare with what was kept'],
    ],
    examples: [
      ['verify'],
      ['verify --data ./other --json'],
      ['verify --print-heads > heads.txt', 'note where the audit trails end'],
      ['verify --heads heads.txt', 'and find out later whether they were cut off or made anew'],
    ],
    run: handedOver,
  });
  const users = group(program, 'users', 'Links for people of the console, because there is no mail server');
  declare(users, 'invite', {
    summary: 'Make a link with which somebody joins an organization',
    details: 'With the embedded database, stop the server first.',
    options: [
      ['--organization <name>', 'name or id of the organization'],
      ['--role <role>', 'viewer, developer, admin or owner (owner)'],
      ['--email <address>', 'only this address may use the link'],
      data,
    ],
    examples: [['users invite --organization Acme --role developer']],
    run: handedOver,
  });
  declare(users, 'reset-link', {
    summary: 'Make a link with which a person chooses a new password',
    options: [['--email <address>', 'the address of the person'], data],
    examples: [['users reset-link --email dev@acme.test']],
    run: handedOver,
  });
}
