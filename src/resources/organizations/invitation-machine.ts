import { accepted, type CommandKind, change, type PreparedCommand } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import { isAtLeast, type Role } from '../../kernel/permissions.ts';
import type { Instant } from '../../kernel/table.ts';
import { dayMs } from '../../kernel/time.ts';
import type { InvitationRow } from './invitation-table.ts';
import { addMember, memberIdOf, readsMember, refuseOwners } from './member-machine.ts';
import type { MemberRow } from './member-table.ts';
import type { OrganizationRow } from './table.ts';

/** A single-use link to join an organization. There is no mail server: the creator passes the link on. */
export const invitationMachine = defineMachine<InvitationRow>()({
  resource: 'invitation',
  states: ['pending', 'accepted', 'revoked'],
  moves: [
    { action: 'create', from: [], to: ['pending'], event: 'created' },
    { action: 'accept', from: ['pending'], to: ['accepted'] },
    { action: 'revoke', from: ['pending'], to: ['revoked'] },
  ],
});

/** The actor of `sandbank users invite`, with all permissions. */
export const operatorId = 'operator';

export interface CreateInvitation {
  readonly email: string | null;
  readonly role: Role;
  readonly hash: Uint8Array;
  /** The link, which only this response shows. */
  readonly url: string;
  /** The number of open invitations, counted by the prepare step. */
  readonly openCount: number;
}

export const createInvitation: PreparedCommand<CreateInvitation> = {
  name: 'invitations.create',
  success: 'created',
  needsPrepare: true,
  answersWithSecret: true,
  reads: (_input, { actor }) =>
    actor.kind === 'person' ? [{ resource: 'member', id: memberIdOf(actor.id), lock: 'share' }] : [],
  authorize: ({ role }, { actor }, rows) =>
    actor.kind === 'person'
      ? refuseCreator(rows.get<MemberRow>('member', memberIdOf(actor.id)), role)
      : undefined,
  decide: ({ email, role, hash, url, openCount }, { orgId, actor, suffix, wallNow }, rows) => {
    const creator = actor.kind === 'person' ? rows.get<MemberRow>('member', memberIdOf(actor.id)) : null;
    if (openCount >= limits.invitationsPendingMax)
      return refuse('limit_reached', {
        message: `At most ${limits.invitationsPendingMax} invitations can be open at the same time. Revoke some first.`,
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
    const decision = accepted([change(invitationMachine, 'create', null, row)], 'invitation', row);
    return { ...decision, secrets: { url } };
  },
};

export const revokeInvitation: CommandKind<{ readonly id: Id<'invitation'> }> = {
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
  readonly id: Id<'invitation'>;
  readonly personId: Id<'person'>;
  readonly email: string;
}

/**
 * Checks the creator's permission again. A link that was used, was revoked, has expired or whose creator may no longer invite is
 * reported as not found.
 */
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
    // An active member keeps the current role, and the link stays valid for another person.
    if (member?.status === 'active') return accepted([], 'member', member);
    // Removing a member invalidates earlier links for that person: rejoining requires a new invitation.
    if (member && member.updatedAt > before.createdAt) return refuse('resource_not_found');
    const row: InvitationRow = {
      ...before,
      status: 'accepted',
      version: before.version + 1,
      updatedAt: wallNow,
    };
    const joining = addMember(organization, member, personId, before.role, wallNow);
    return {
      ...joining,
      changes: [change(invitationMachine, 'accept', before, row), ...joining.changes],
    };
  },
};

/** Whether an invitation can be accepted: it is pending and not expired, and its creator's membership has not changed. */
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

function isPerson(creatorId: string | null | undefined): creatorId is Id<'person'> {
  return typeof creatorId === 'string' && creatorId !== operatorId;
}
