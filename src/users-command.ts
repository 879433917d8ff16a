import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, ConfigProblem, readConfig } from './config.ts';
import { roles } from './kernel/roles.ts';
import type { Instant } from './kernel/table.ts';
import {
  createInvitation,
  type InvitationRow,
  operatorId,
  revokeInvitation,
} from './resources/invitations/machine.ts';
import { findOpenInvitations } from './resources/invitations/store.ts';
import { memberIdOf, type ResetMember, resetMember } from './resources/members/machine.ts';
import { findMemberships } from './resources/members/store.ts';
import { findOrganizations } from './resources/organizations/store.ts';
import { createServer, type Server } from './server.ts';
import { invitationUrl, newInvitationToken, resetUrl } from './workers/console-errands.ts';
import { systemCommand } from './workers/system-command.ts';

export const usersUsage = `Usage: npm run sandbank -- users invite --organization NAME [--role owner] [--email ADDRESS]
       npm run sandbank -- users reset-link --email ADDRESS

Makes a link for the console, because there is no mail server: one with which somebody joins an organization, or one with
which a person chooses a new password. Hand it on yourself. With the embedded database, stop the server first.

  --organization NAME  name or id of the organization
  --role ROLE          ${roles.join(', ')} (owner)
  --email ADDRESS      invite: only this address may use the link
  --url URL            the address of the server                 (SANDBANK_PUBLIC_URL, http://127.0.0.1:4000)
  --data DIR           where the embedded database lives         (SANDBANK_DATA_DIR, ./.sandbank)
  --json               print the result as JSON`;

const invitationsMax = 1_000;

/** `sandbank users ...`: gives what is to be printed. */
export async function usersCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { values, positionals } = readArguments(argv);
  const [what, ...others] = positionals;
  if (values.help || what === undefined) return usersUsage;
  if (others.length > 0 || (what !== 'invite' && what !== 'reset-link'))
    throw new ConfigProblem(`users knows invite and reset-link, not "${positionals.join(' ')}".`);
  const config = configOf(values.data, env);
  const { databaseUrl, dataDirectory } = config;
  if (databaseUrl === undefined && !existsSync(join(dataDirectory ?? '', 'db')))
    throw new ConfigProblem(
      `There is no database in ${dataDirectory ?? 'memory'}; choose the directory with --data.`,
    );
  const url = (values.url ?? config.publicUrl ?? `http://${config.host}:${config.port}`).replace(/\/+$/, '');
  const work = workOf(what, values, url);
  // Nothing is served and no worker runs: it is there for its parts.
  const server = await createServer({ ...config, role: 'api' });
  try {
    const made = await work(server);
    return values.json ? JSON.stringify({ object: 'link', sandbox: true, status: 'ok', ...made }) : made.url;
  } finally {
    await server.close();
  }
}

interface Link {
  readonly url: string;
}

interface Asked {
  readonly organization?: string | undefined;
  readonly role?: string | undefined;
  readonly email?: string | undefined;
}

type Work = (server: Server) => Promise<Link>;

/** What is asked for, looked at before anything is opened. */
function workOf(what: string, { organization, role: asked = 'owner', email }: Asked, url: string): Work {
  if (what === 'reset-link') {
    if (email === undefined) throw new ConfigProblem('--email is missing: the address of the person.');
    return (server) => reset(server, email, url);
  }
  if (organization === undefined) throw new ConfigProblem('--organization is missing: its name or its id.');
  const role = roles.find((one) => one === asked);
  if (role === undefined)
    throw new ConfigProblem(`--role must be one of ${roles.join(', ')}, not "${asked}".`);
  return async (server) => {
    const found = await findOrganizations(server.reader, organization);
    const [first, second] = found;
    if (!first) throw new ConfigProblem(`There is no organization "${organization}".`);
    if (second)
      throw new ConfigProblem(
        `Several organizations are called "${organization}"; name one by its id: ${found.map(({ id }) => id).join(', ')}.`,
      );
    return { url: await invitationLink(server, first.id, role, email?.toLowerCase() ?? null, url, Date.now) };
  };
}

/** Every organization of the person has it in its audit trail, as if an owner had created it. */
async function reset(server: Server, email: string, url: string): Promise<Link> {
  const link = await server.people.createResetLink(email, null);
  if (!link) throw new ConfigProblem(`Nobody has signed up with ${email}.`);
  const shown = { url: resetUrl(url, link.token), expiresAt: link.expiresAt };
  const input: ResetMember = { id: memberIdOf(link.personId), ...shown };
  for (const { orgId } of await findMemberships(server.reader, link.personId))
    await server.engine.submit(
      systemCommand(resetMember, input, { orgId, appId: null }, operatorId, Date.now()),
    );
  return { url: shown.url };
}

/** An invitation by the operator, who has every right: it ends by use, by expiry or by being revoked. */
export async function invitationLink(
  { engine }: Pick<Server, 'engine'>,
  orgId: string,
  role: InvitationRow['role'],
  email: string | null,
  publicUrl: string,
  wallClock: () => Instant,
): Promise<string> {
  const { token, hash } = newInvitationToken();
  const url = invitationUrl(publicUrl, token);
  const input = { email, role, hash, url, others: 0 } as const;
  const answer = await engine.submit(
    systemCommand(createInvitation, input, { orgId, appId: null }, operatorId, wallClock()),
  );
  if (answer.code !== null) throw new Error(`the invitation was refused: ${answer.body}`);
  return url;
}

/** The link for an organization that nobody owns yet. Those that were printed before it are of no use any more. */
export async function ownerLink(
  server: Pick<Server, 'engine' | 'reader'>,
  orgId: string,
  publicUrl: string,
  wallClock: () => Instant,
): Promise<string> {
  for (const { id } of await findOpenInvitations(server.reader, orgId, wallClock(), invitationsMax))
    await server.engine.submit(
      systemCommand(revokeInvitation, { id }, { orgId, appId: null }, operatorId, wallClock()),
    );
  return invitationLink(server, orgId, 'owner', null, publicUrl, wallClock);
}

function configOf(data: string | undefined, env: Readonly<Record<string, string | undefined>>): Config {
  const invocation = readConfig(data === undefined ? [] : ['--data', data], env);
  if ('show' in invocation) throw new ConfigProblem('--help stands alone.');
  return invocation.config;
}

function readArguments(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: { organization: text, role: text, email: text, url: text, data: text, json: flag, help: flag },
      strict: true,
      allowPositionals: true,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new ConfigProblem(`${reason}; users --help lists the flags.`);
  }
}
