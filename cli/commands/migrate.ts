import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { CliProblem } from '../problem.ts';

interface MigrateOptions {
  readonly data?: string;
  readonly status?: true;
}

export function addMigrate(program: Command): void {
  declare<MigrateOptions>(program, 'migrate', {
    summary: 'Bring the schema of the database up to date',
    details:
      'The server does it at every start; this is for a step of its own before a rollout. It works on DATABASE_URL, else on the data directory, which no server may be using.',
    options: [
      ['--data <dir>', 'where the embedded database lives (SANDBANK_DATA_DIR, ./.sandbank)'],
      ['--status', 'only say what would be applied'],
    ],
    examples: [
      ['migrate --status', 'what is missing'],
      ['migrate', 'apply it'],
    ],
    run: async ({ out, env }, { data, status }) => {
      const { migrateDatabase } = await import('../../src/main.ts');
      const isLook = status === true;
      out.progress(isLook ? 'Looking at the database...' : 'Migrating...');
      const report = await migrateDatabase({ data, env, isLook }).catch((error: Error) => {
        throw new CliProblem(`Nothing was migrated. ${error.message}`);
      });
      const { where, applied, pending } = report;
      out.show(
        {
          object: 'migration',
          sandbox: true,
          status: pending.length > 0 ? 'pending' : 'ok',
          where,
          applied,
          pending,
        },
        () => {
          const changed = isLook ? pending : applied;
          const head =
            changed.length === 0
              ? 'The schema is up to date.'
              : `${isLook ? 'Would be applied' : 'Applied'}:`;
          return [`${where}: ${head}`, ...changed.map((name) => `  ${name}`)].join('\n');
        },
      );
      return undefined;
    },
  });
}
