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
    summary: 'Delete all records of an organization',
    details:
      'It resets the organization of the API key, which needs the permission mayReset; --organization resets any other and needs the operator token. Applications, keys and endpoints stay; clocks return to real time. It asks for confirmation; without a terminal, pass --yes.',
    options: [
      ['--organization <name>', 'name or id of another organization'],
      ['--yes', 'do not ask for confirmation'],
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
        !(await confirm(session, `This deletes all records of ${name} at ${session.settings.url}.`))
      )
        throw new CliProblem('Nothing was deleted.');
      const answer = sandbank
        ? await sandbank.reset()
        : await operator?.reset(await organizationOf(session, operator, organization));
      const deleted = Object.entries(answer?.deleted ?? {}).filter(([, count]) => count > 0);
      out.show(answer, () =>
        deleted.length === 0 ? 'There was nothing to delete.' : `Deleted:\n${fields(deleted)}`,
      );
      return undefined;
    },
  });
}
