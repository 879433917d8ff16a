import type { Reader } from '../../kernel/route.ts';
import { defineTable, type Statement, selectList } from '../../kernel/table.ts';
import type { InvitationRow } from './machine.ts';

export const invitationsTable = defineTable<InvitationRow>('invitations', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  email: 'text',
  role: 'text',
  status: 'text',
  version: 'integer',
  hash: 'bytea',
  expiresAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export interface KnownInvitation extends InvitationRow {
  readonly orgName: string;
}

const byHash: Statement = {
  name: 'invitation_by_hash',
  text: `select ${selectList(invitationsTable, 'i')}, o.name as "orgName" from invitations i
    join organizations o on o.org_id = i.org_id and o.id = i.org_id where i.hash = $1`,
};

/** A link names nothing but itself, so the organization follows from it. */
export async function findInvitation(
  reader: Pick<Reader, 'rows'>,
  hash: Uint8Array,
): Promise<KnownInvitation | undefined> {
  const [row] = await reader.rows<KnownInvitation>(byHash, [Buffer.from(hash)]);
  return row;
}

const openOf: Statement = {
  name: 'invitations_open',
  text: `select ${selectList(invitationsTable, 'i')} from invitations i
    where i.org_id = $1 and i.status = 'pending' and i.expires_at > $2 order by i.id desc limit $3`,
};

export function findOpenInvitations(
  reader: Pick<Reader, 'rows'>,
  orgId: string,
  now: number,
  limit: number,
): PromiseLike<readonly InvitationRow[]> {
  return reader.rows<InvitationRow>(openOf, [orgId, new Date(now).toISOString(), limit]);
}
