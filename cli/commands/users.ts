import type { Command } from 'commander';
import type { LinkOptions } from '../../src/admin/users.ts';
import { declare, group } from '../declare.ts';
import { roles } from '../generated/values.ts';
import { reportedAs, wrongUsage } from '../problem.ts';
import { choice } from '../reading.ts';
import type { Session } from '../session.ts';

interface InviteOptions {
  readonly organization?: string;
  readonly role: (typeof roles)[number];
  readonly email?: string;
  readonly data?: string;
}

interface ResetOptions {
  readonly email?: string;
  readonly data?: string;
}

const data = ['--data <dir>', 'directory of the embedded database (SANDBANK_DATA_DIR, ./.sandbank)'] as const;
const stopFirst =
  'Deliver the link yourself. With the embedded database, stop the server first. --url sets the server address in the link.';

export function addUsers(program: Command): void {
  const users = group(program, 'users', 'Create invitation and password-reset links');
  declare<InviteOptions>(users, 'invite', {
    summary: 'Create an invitation link for an organization',
    details: stopFirst,
    options: [
      ['--organization <name>', 'name or id of the organization'],
      ['--role <role>', 'viewer, developer, admin or owner', choice(...roles), 'owner'],
      ['--email <address>', 'only this address may use the link'],
      data,
    ],
    examples: [['users invite --organization Acme --role developer']],
    run: (session, { organization, role, email, data }) => {
      if (organization === undefined) throw wrongUsage('--organization is missing: pass a name or an id.');
      return showLink(session, data, { kind: 'invitation', organization, role, email });
    },
  });
  declare<ResetOptions>(users, 'reset-link', {
    summary: 'Create a password-reset link for a person',
    details: stopFirst,
    options: [['--email <address>', 'email address of the person'], data],
    examples: [['users reset-link --email dev@acme.test']],
    run: (session, { email, data }) => {
      if (email === undefined) throw wrongUsage('--email is missing: pass the address of the person.');
      return showLink(session, data, { kind: 'reset', email });
    },
  });
}

async function showLink(
  { out, env, urlGiven: url }: Session,
  data: string | undefined,
  link: LinkOptions['link'],
): Promise<undefined> {
  const { createConsoleLink } = await import('../../src/main.ts');
  const created = await reportedAs('No link was created.', createConsoleLink({ data, env, url, link }));
  out.show({ object: 'link', sandbox: true, status: 'ok', url: created }, () => created);
}
