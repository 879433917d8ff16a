import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Role } from '../../kernel/roles.ts';
import type { Instant } from '../../kernel/table.ts';
import { joined, type MemberRow, memberIdOf, readsMember, refuseOwners } from '../members/machine.ts';
import type { OrganizationRow } from '../organizations/machine.ts';

/** A link with which a person joins an organization, once. There is no mail server: whoever makes it hands it on. */
export const invitationMachine = defineMachine<InvitationRow>({
  resource: 'invitation',
  states: ['pending', 'accepted', 'revoked'],
  moves: [
    { action: 'create', from: [], to: ['pending'], event: 'created' },
    { action: 'accept', from: ['pending'], to: ['accepted'] },
    { action: 'revoke', from: ['pending'], to: ['revoked'] },
  ],
});

export interface InvitationRow {
  readonly orgId: string;
  readonly id: string;
  /** Null is for whoever has the link. */
  readonly email: string | null;
  readonly role: Role;
  readonly status: 'pending' | 'accepted' | 'revoked';
  readonly version: number;
  /** Of what the link carries. */
  readonly hash: Uint8Array;
  /** Wall time. */
  readonly expiresAt: Instant;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface CreateInvitation {
  readonly email: string | null;
  readonly role: Role;
  readonly byRole: Role;
  readonly hash: Uint8Array;
  /** What the link is; the answer shows it, once. */
  readonly url: string;
  /** How many are pending already, counted before. */
  readonly others: number;
}

const dayMs = 86_400_000;

export const createInvitation: CommandKind<CreateInvitation> = {
  name: 'invitations.create',
  success: 'created',
  answersWithSecret: true,
  reads: () => [],
  authorize: ({ role, byRole }) => (role === 'owner' && byRole !== 'owner' ? refuseOwners() : undefined),
  decide: ({ email, role, hash, url, others }, { orgId, suffix, wallNow }) => {
    if (others >= limits.invitationsPendingMax)
      return refuse('limit_reached', {
        message: `At most ${limits.invitationsPendingMax} invitations are open at once. Revoke some first.`,
      });
    const row: InvitationRow = {
      ...{ orgId, id: formatId('invitation', suffix), email, role, hash },
      ...{ status: 'pending', version: 1 },
      expiresAt: wallNow + limits.invitationDays * dayMs,
      createdAt: wallNow,
      updatedAt: wallNow,
    };
    const made = accepted([change(invitationMachine, 'create', null, row)], 'invitation', row);
    return { ...made, secrets: { url } };
  },
};

export const revokeInvitation: CommandKind<{ readonly id: string }> = {
  name: 'invitations.revoke',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'invitation', id, lock: 'update' }],
  decide: ({ id }, { wallNow }, rows) => {
    const before = rows.get<InvitationRow>('invitation', id);
    if (!before) return refuse('resource_not_found');
    const refusal = refuseMove(invitationMachine, 'revoke', before);
    if (refusal) return refusal;
    const row: InvitationRow = {
      ...before,
      status: 'revoked',
      version: before.version + 1,
      updatedAt: wallNow,
    };
    return accepted([change(invitationMachine, 'revoke', before, row)], 'invitation', row);
  },
};

export interface AcceptInvitation {
  readonly id: string;
  readonly personId: string;
  readonly email: string;
}

/** A link that was used, revoked or forgotten too long is as little there as one that never was. */
export const acceptInvitation: CommandKind<AcceptInvitation> = {
  name: 'invitations.accept',
  success: 'ok',
  reads: ({ id, personId }, { orgId }) => [
    { resource: 'invitation', id, lock: 'update' },
    ...readsMember(memberIdOf(personId), orgId),
  ],
  decide: ({ id, personId, email }, { orgId, wallNow }, rows) => {
    const before = rows.get<InvitationRow>('invitation', id);
    const organization = rows.get<OrganizationRow>('organization', orgId);
    if (!before || !organization || !isOpen(before, wallNow)) return refuse('resource_not_found');
    if (before.email !== null && before.email !== email) return refuse('invitation_for_another');
    const member = rows.get<MemberRow>('member', memberIdOf(personId));
    // Who is a member already keeps the role, and the link stays good for somebody else.
    if (member?.status === 'active') return accepted([], 'member', member);
    const row: InvitationRow = {
      ...before,
      status: 'accepted',
      version: before.version + 1,
      updatedAt: wallNow,
    };
    const joining = joined(organization, member, personId, before.role, wallNow);
    return {
      ...joining,
      changes: [change(invitationMachine, 'accept', before, row), ...joining.changes],
    };
  },
};

export function isOpen({ status, expiresAt }: InvitationRow, wallNow: Instant): boolean {
  return status === 'pending' && expiresAt > wallNow;
}
