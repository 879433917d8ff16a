import type { Id } from '../../kernel/ids.ts';
import type { Role } from '../../kernel/permissions.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { operatorId } from './invitation-machine.ts';
import { type InvitationRow, invitationsTable } from './invitation-table.ts';

/** An invitation with its organization name and the creator's current membership. */
export interface KnownInvitation extends InvitationRow {
  readonly orgName: string;
  readonly creator: CreatorMembership | undefined;
}

interface CreatorMembership {
  readonly role: Role;
  readonly status: 'active' | 'removed';
  readonly version: number;
}

const byHash: Statement = {
  name: 'invitation_by_hash',
  text: `select ${selectList(invitationsTable, 'i')}, o.name as "orgName",
      c.role as "memberRole", c.status as "memberStatus", c.version as "memberVersion" from invitations i
    join organizations o on o.org_id = i.org_id and o.id = i.org_id
    left join members c on c.org_id = i.org_id and c.person_id = i.creator_id where i.hash = $1`,
};

/** Finds an invitation by its hash alone: a link does not contain the organization. */
export async function findInvitation(
  reader: Pick<Reader, 'rows'>,
  hash: Uint8Array,
): Promise<KnownInvitation | undefined> {
  const [row] = await reader.rows<
    Omit<KnownInvitation, 'creator'> & {
      readonly memberRole: Role | null;
      readonly memberStatus: CreatorMembership['status'] | null;
      readonly memberVersion: number | null;
    }
  >(byHash, [Buffer.from(hash)]);
  if (!row) return undefined;
  const { memberRole: role, memberStatus: status, memberVersion: version, ...invitation } = row;
  const isMember = role !== null && status !== null && version !== null;
  return { ...invitation, creator: isMember ? { role, status, version } : undefined };
}

/** A membership with an unchanged version also has an unchanged role. */
const openOf: Statement = {
  name: 'invitations_open',
  text: `select ${selectList(invitationsTable, 'i')} from invitations i
    left join members c on c.org_id = i.org_id and c.person_id = i.creator_id
    where i.org_id = $1 and i.status = 'pending' and i.expires_at > $2
      and (i.creator_id = '${operatorId}' or (c.status = 'active' and c.version = i.creator_version))
    order by i.id desc limit $3`,
};

export function findOpenInvitations(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  now: number,
  limit: number,
): PromiseLike<readonly InvitationRow[]> {
  return reader.rows<InvitationRow>(openOf, [orgId, new Date(now).toISOString(), limit]);
}
