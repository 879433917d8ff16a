import type { Command } from 'commander';
import type { StartFlags } from '../../src/config.ts';
import { declare } from '../declare.ts';
import { reportedAs } from '../problem.ts';
import { choice } from '../reading.ts';
import { variablesText } from '../variables.ts';

export function addStart(program: Command): void {
  declare<StartFlags>(program, 'start', {
    summary: 'Run the server',
    details:
      'Without DATABASE_URL it uses an embedded database. Flags override environment variables, which override defaults.',
    options: [
      ['--port <port>', 'port to listen on; 0 picks a free port (PORT, 4000)'],
      ['--host <host>', 'address to listen on (HOST, 127.0.0.1)'],
      ['--allowed-hosts <list>', 'host names that requests may use, with commas (SANDBANK_ALLOWED_HOSTS)'],
      [
        '--data <dir>',
        'directory of the embedded database, or "memory" to store nothing (SANDBANK_DATA_DIR, ./.sandbank)',
      ],
      [
        '--seed <file>',
        'create the organizations, applications and keys of this file, or "none" (SANDBANK_SEED, ./sandbank.seed.json if it exists; with DATABASE_URL none)',
      ],
      [
        '--deterministic <seed>',
        'derive ids and times from the seed and the requests; in memory only (SANDBANK_DETERMINISTIC)',
      ],
      ['--import <file>', 'import a snapshot, unless its organizations already exist'],
      [
        '--export-on-exit <file>',
        'write a snapshot of all organizations, with secrets, on SIGTERM and SIGINT; .gz compresses it',
      ],
      ['--role <role>', 'all, api or worker (SANDBANK_ROLE, all)', choice('all', 'api', 'worker')],
      ['--metrics', 'serve Prometheus metrics at /metrics (SANDBANK_METRICS=on)'],
    ],
    examples: [
      ['start', 'embedded database, stored in ./.sandbank'],
      ['start --port 0 --data memory', 'a free port, nothing is stored'],
      ['start --seed seed.json --metrics'],
      [
        'start --data memory --import acme.jsonl --export-on-exit acme.jsonl',
        'continue from the last snapshot',
      ],
    ],
    notes: variablesText(),
    run: async ({ env }, flags) => {
      const { boot } = await import('../../src/boot.ts');
      await reportedAs('Sandbank did not start.', boot(flags, env));
      return undefined;
    },
  });
}
