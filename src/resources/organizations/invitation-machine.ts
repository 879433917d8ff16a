import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import { isAtLeast, type Role } from '../../kernel/permissions.ts';
import type { Instant } from '../../kernel/table.ts';
import type { InvitationRow } from './invitation-table.ts';
import { joined, memberIdOf, readsMember, refuseOwners } from './member-machine.ts';
import type { MemberRow } from './member-table.ts';
import type { OrganizationRow } from './table.ts';

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

/** Creates invitations in the name of the server (`sandbank users invite`), with every right. */
export const operatorId = 'operator';

export interface CreateInvitation {
  readonly email: string | null;
  readonly role: Role;
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
  reads: (_input, { actor }) =>
    actor.kind === 'person' ? [{ resource: 'member', id: memberIdOf(actor.id), lock: 'share' }] : [],
  authorize: ({ role }, { actor }, rows) =>
    actor.kind === 'person'
      ? refuseCreator(rows.get<MemberRow>('member', memberIdOf(actor.id)), role)
      : undefined,
  decide: ({ email, role, hash, url, others }, { orgId, actor, suffix, wallNow }, rows) => {
    const creator = actor.kind === 'person' ? rows.get<MemberRow>('member', memberIdOf(actor.id)) : null;
    if (others >= limits.invitationsPendingMax)
      return refuse('limit_reached', {
        message: `At most ${limits.invitationsPendingMax} invitations are open at once. Revoke some first.`,
      });
    const row: InvitationRow = {
      ...{ orgId, id: formatId('invitation', suffix), email, role, hash },
      ...{ status: 'pending', version: 1 },
      creatorId: actor.id,
      creatorVersion: creator?.version ?? null,
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

/** The right to create it is checked again: a link that was used, revoked, has expired or lost its creator does not exist. */
export const acceptInvitation: CommandKind<AcceptInvitation> = {
  name: 'invitations.accept',
  success: 'ok',
  reads: ({ id, personId }, { orgId }) => [
    { resource: 'invitation', id, lock: 'update' },
    ...readsMember(memberIdOf(personId), orgId),
  ],
  thenReads: ({ id }, rows) => {
    const creatorId = rows.get<InvitationRow>('invitation', id)?.creatorId;
    return isPerson(creatorId) ? [{ resource: 'member', id: memberIdOf(creatorId), lock: 'share' }] : [];
  },
  decide: ({ id, personId, email }, { orgId, wallNow }, rows) => {
    const before = rows.get<InvitationRow>('invitation', id);
    const organization = rows.get<OrganizationRow>('organization', orgId);
    if (!before || !organization) return refuse('resource_not_found');
    const { creatorId } = before;
    const creator = isPerson(creatorId) ? rows.get<MemberRow>('member', memberIdOf(creatorId)) : undefined;
    if (!isOpen(before, creator, wallNow)) return refuse('resource_not_found');
    if (before.email !== null && before.email !== email) return refuse('invitation_for_another');
    const member = rows.get<MemberRow>('member', memberIdOf(personId));
    // A member keeps the role, and the link stays valid for somebody else.
    if (member?.status === 'active') return accepted([], 'member', member);
    // Removal outlives the links of before it: it takes a new invitation to come back.
    if (member && member.updatedAt > before.createdAt) return refuse('resource_not_found');
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

/** Whether an invitation can be accepted: pending, not expired, and its creator could create it now, as when they did. */
export function isOpen(
  { status, expiresAt, role, creatorId, creatorVersion }: InvitationRow,
  creator: Pick<MemberRow, 'status' | 'role' | 'version'> | undefined,
  wallNow: Instant,
): boolean {
  if (status !== 'pending' || expiresAt <= wallNow) return false;
  if (creatorId === operatorId) return true;
  return creator?.version === creatorVersion && refuseCreator(creator, role) === undefined;
}

function refuseCreator(
  creator: Pick<MemberRow, 'status' | 'role'> | undefined,
  role: Role,
): Refusal | undefined {
  if (creator?.status !== 'active') return refuse('resource_not_found');
  if (!isAtLeast(creator.role, 'admin')) return refuse('role_missing', { details: { role: 'admin' } });
  return role === 'owner' && creator.role !== 'owner' ? refuseOwners() : undefined;
}

function isPerson(creatorId: string | null | undefined): creatorId is string {
  return typeof creatorId === 'string' && creatorId !== operatorId;
}
