import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { systemCommand } from '../engine/system-command.ts';
import { newInvitationToken } from '../engine/tokens.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import {
  createInvitation,
  operatorId,
  revokeInvitation,
} from '../resources/organizations/invitation-machine.ts';
import { findOpenInvitations } from '../resources/organizations/invitation-store.ts';
import type { InvitationRow } from '../resources/organizations/invitation-table.ts';
import { invitationUrl, resetUrl } from '../resources/organizations/link-views.ts';
import { memberIdOf, type ResetMember, resetMember } from '../resources/organizations/member-machine.ts';
import { findMemberships } from '../resources/organizations/member-store.ts';
import { findOrganizations } from '../resources/organizations/store.ts';
import { createServer, type Server } from '../server.ts';
import { CommandProblem, type DatabaseOptions } from './database.ts';

const invitationsMax = 1_000;

export interface LinkOptions extends DatabaseOptions {
  /** The address of the server in the link; by default the public URL, or the address that the server listens on. */
  readonly url: string | undefined;
  readonly link: InvitationLinkOptions | ResetLinkOptions;
}

interface InvitationLinkOptions {
  readonly kind: 'invitation';
  /** Name or id. */
  readonly organization: string;
  readonly role: InvitationRow['role'];
  readonly email: string | undefined;
}

interface ResetLinkOptions {
  readonly kind: 'reset';
  readonly email: string;
}

/** `sandbank users`: creates an invitation or password-reset link, and returns its URL. */
export async function createLink({ data, env, url, link }: LinkOptions): Promise<string> {
  const config = readConfig({ data }, env);
  const { databaseUrl, dataDirectory } = config;
  if (databaseUrl === undefined && !existsSync(join(dataDirectory ?? '', 'db')))
    throw new CommandProblem(
      `There is no database in ${dataDirectory ?? 'memory'}; choose the directory with --data.`,
    );
  const base = (url ?? config.publicUrl ?? `http://${config.host}:${config.port}`).replace(/\/+$/, '');
  // The server does not listen, and runs no workers.
  const server = await createServer({ ...config, role: 'api' });
  try {
    return await (link.kind === 'reset' ? reset(server, link.email, base) : invite(server, link, base));
  } finally {
    await server.close();
  }
}

async function invite(
  server: Server,
  { organization, role, email }: InvitationLinkOptions,
  url: string,
): Promise<string> {
  const found = await findOrganizations(server.reader, organization);
  const [first, second] = found;
  if (!first) throw new CommandProblem(`There is no organization "${organization}".`);
  if (second)
    throw new CommandProblem(
      `Several organizations are called "${organization}"; use an id: ${found.map(({ id }) => id).join(', ')}.`,
    );
  return invitationLink(server, first.id, role, email?.toLowerCase() ?? null, url, Date.now);
}

/** Writes an audit row in each of the person's organizations, as for a link created by an owner. */
async function reset(server: Server, email: string, url: string): Promise<string> {
  const link = await server.people.createResetLink(email, null);
  if (!link) throw new CommandProblem(`Nobody has signed up with ${email}.`);
  const shown = { url: resetUrl(url, link.token), expiresAt: link.expiresAt };
  const input: ResetMember = { id: memberIdOf(link.personId), ...shown };
  for (const { orgId } of await findMemberships(server.reader, link.personId))
    await server.engine.submit(
      systemCommand(resetMember, input, { orgId, appId: null }, operatorId, Date.now()),
    );
  return shown.url;
}

/** An invitation by the operator, who has all permissions. It ends when it is used, expires or is revoked. */
async function invitationLink(
  { engine }: Pick<Server, 'engine'>,
  orgId: Id<'organization'>,
  role: InvitationRow['role'],
  email: string | null,
  publicUrl: string,
  wallClock: () => Instant,
): Promise<string> {
  const { token, hash } = newInvitationToken();
  const url = invitationUrl(publicUrl, token);
  const input = { email, role, hash, url, openCount: 0 } as const;
  const answer = await engine.submit(
    systemCommand(createInvitation, input, { orgId, appId: null }, operatorId, wallClock()),
  );
  if (answer.code !== null) throw new Error(`invitation rejected: ${answer.body}`);
  return url;
}

/** The link for an organization without an owner. It revokes the links that were printed before. */
export async function ownerLink(
  server: Pick<Server, 'engine' | 'reader'>,
  orgId: Id<'organization'>,
  publicUrl: string,
  wallClock: () => Instant,
): Promise<string> {
  for (const { id } of await findOpenInvitations(server.reader, orgId, wallClock(), invitationsMax))
    await server.engine.submit(
      systemCommand(revokeInvitation, { id }, { orgId, appId: null }, operatorId, wallClock()),
    );
  return invitationLink(server, orgId, 'owner', null, publicUrl, wallClock);
}
