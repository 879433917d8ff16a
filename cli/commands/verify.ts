import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { exits, reportedAs } from '../problem.ts';

interface VerifyOptions {
  readonly data?: string;
  readonly printHeads?: true;
  readonly heads?: string;
}

export function addVerify(program: Command): void {
  declare<VerifyOptions>(program, 'verify', {
    summary: 'Check the ledger and the audit trails of the database',
    details:
      'It recomputes every balance from the postings and reports differences. The embedded database must not be in use by a server; PostgreSQL (DATABASE_URL) can be verified at any time. The exit code is 1 when something differs.',
    options: [
      ['--data <dir>', 'directory of the embedded database (SANDBANK_DATA_DIR, ./.sandbank)'],
      ['--print-heads', 'print the last seal of each audit trail, to be stored elsewhere'],
      ['--heads <file>', 'compare the audit trails with seals that --print-heads has printed'],
    ],
    examples: [
      ['verify'],
      ['verify --data ./other --json'],
      ['verify --print-heads > heads.txt', 'record where the audit trails end'],
      ['verify --heads heads.txt', 'check later that they were not truncated or rewritten'],
    ],
    run: async ({ out, env }, { data, printHeads, heads }) => {
      const { verifyDatabase } = await import('../../src/main.ts');
      const report = await reportedAs('Nothing was verified.', verifyDatabase({ data, env, heads }));
      const { isSound, counts, text, headLines } = report;
      const status = isSound ? 'sound' : 'different';
      const checks = report.checks.map(({ name, description, differences }) => ({
        ...{ name, words: description, differences },
      }));
      const result = {
        ...{ object: 'verification', sandbox: true, status, looked: counts, checks, heads: report.heads },
      };
      // Seals of an unsound ledger are worthless: they must not end up in the file.
      if (printHeads && !isSound && !out.isJson) out.say(text);
      else out.show(result, () => (printHeads ? headLines : text));
      return isSound ? exits.fine : exits.refused;
    },
  });
}
