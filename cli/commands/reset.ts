import type { Command } from 'commander';
import { confirm } from '../confirm.ts';
import { declare } from '../declare.ts';
import { fields } from '../layout.ts';
import { organizationOf } from '../organization.ts';
import { CliProblem } from '../problem.ts';

interface ResetOptions {
  readonly organization?: string;
  readonly yes?: true;
}

export function addReset(program: Command): void {
  declare<ResetOptions>(program, 'reset', {
    summary: 'Remove all records of an organization; applications, keys and endpoints stay',
    details:
      'Of the organization of the key, which needs the permission mayReset; with --organization of any, for which it needs the token of the operator. Clocks go back to real time. It asks first; where nobody can answer, --yes is needed.',
    options: [
      ['--organization <name>', 'name or id of another organization than that of the key'],
      ['--yes', 'do not ask'],
    ],
    examples: [['reset'], ['reset --yes'], ['reset --organization Acme --yes --json']],
    run: async (session, { organization, yes }) => {
      const { out } = session;
      const isOwn = organization === undefined;
      const sandbank = isOwn ? await session.sandbank() : undefined;
      const operator = isOwn ? undefined : await session.operator();
      const name = sandbank ? (await sandbank.status()).organization.name : (organization ?? '');
      if (
        !yes &&
        !(await confirm(session, `This removes all records of ${name} at ${session.settings.url}.`))
      )
        throw new CliProblem('Nothing was removed.');
      const answer = sandbank
        ? await sandbank.reset()
        : await operator?.reset(await organizationOf(session, operator, organization));
      const deleted = Object.entries(answer?.deleted ?? {}).filter(([, count]) => count > 0);
      out.show(answer, () =>
        deleted.length === 0 ? 'There was nothing to remove.' : `Removed:\n${fields(deleted)}`,
      );
      return undefined;
    },
  });
}
