import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { reportedAs } from '../problem.ts';

interface MigrateOptions {
  readonly data?: string;
  readonly status?: true;
}

export function addMigrate(program: Command): void {
  declare<MigrateOptions>(program, 'migrate', {
    summary: 'Apply pending database migrations',
    details:
      'The server applies them at every start; use this for a separate step before a rollout. It migrates the database in DATABASE_URL, otherwise the data directory, which must not be in use by a server.',
    options: [
      ['--data <dir>', 'directory of the embedded database (SANDBANK_DATA_DIR, ./.sandbank)'],
      ['--status', 'only list the pending migrations'],
    ],
    examples: [
      ['migrate --status', 'list pending migrations'],
      ['migrate', 'apply them'],
    ],
    run: async ({ out, env }, { data, status }) => {
      const { migrateDatabase } = await import('../../src/main.ts');
      const isDryRun = status === true;
      out.progress(isDryRun ? 'Reading the database...' : 'Migrating...');
      const report = await reportedAs('Nothing was migrated.', migrateDatabase({ data, env, isDryRun }));
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
          const changed = isDryRun ? pending : applied;
          const head =
            changed.length === 0
              ? 'The schema is up to date.'
              : `${isDryRun ? 'Would be applied' : 'Applied'}:`;
          return [`${where}: ${head}`, ...changed.map((name) => `  ${name}`)].join('\n');
        },
      );
      return undefined;
    },
  });
}
