import {
  accepted,
  type CommandKind,
  change,
  type LoadedRows,
  type PreparedCommand,
  type Read,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id, idPrefixes } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import { type ActionOf, defineMachine, refuseMove } from '../../kernel/machine.ts';
import { isAtLeast, type Role } from '../../kernel/permissions.ts';
import type { Instant } from '../../kernel/table.ts';
import { countOwners, newOrganization, organizationMachine } from './machine.ts';
import type { MemberRow } from './member-table.ts';
import type { OrganizationRow } from './table.ts';

/** A person's membership in an organization. The row of a removed member stays, because the audit trail refers to it. */
export const memberMachine = defineMachine<MemberRow>()({
  resource: 'member',
  states: ['active', 'removed'],
  moves: [
    { action: 'join', from: [], to: ['active'], event: 'joined' },
    { action: 'rejoin', from: ['removed'], to: ['active'], event: 'joined' },
    { action: 'change_role', from: ['active'], to: ['active'], event: 'role_changed' },
    { action: 'remove', from: ['active'], to: ['removed'] },
  ],
});

/** A person has at most one membership per organization: its id has the same suffix as the person id. */
export function memberIdOf(personId: Id<'person'>): Id<'member'> {
  return formatId('member', personId.slice(idPrefixes.person.length + 1));
}

/** A member, and the organization because it stores the owner count. */
export function readsMember(id: Id<'member'>, orgId: Id<'organization'>): readonly Read[] {
  return [
    { resource: 'member', id, lock: 'update' },
    { resource: 'organization', id: orgId, lock: 'update' },
  ];
}

/** The person who creates an organization is its first owner. */
export const createOrganization: CommandKind<{ readonly name: string; readonly personId: Id<'person'> }> = {
  name: 'organizations.create',
  success: 'created',
  reads: () => [],
  decide: ({ name, personId }, { orgId, wallNow }) => {
    const organization = newOrganization(orgId, name, 1, wallNow);
    const member = newMember(orgId, personId, 'owner', wallNow);
    return accepted(
      [
        change(organizationMachine, 'create', null, organization),
        change(memberMachine, 'join', null, member),
      ],
      'organization',
      organization,
    );
  },
};

/** Adds a person from the seed file as a member, or changes the role. */
export const declareMember: CommandKind<{ readonly personId: Id<'person'>; readonly role: Role }> = {
  name: 'members.declare',
  success: 'ok',
  reads: ({ personId }, { orgId }) => readsMember(memberIdOf(personId), orgId),
  decide: ({ personId, role }, { orgId, wallNow }, rows) => {
    const organization = rows.get<OrganizationRow>('organization', orgId);
    const before = rows.get<MemberRow>('member', memberIdOf(personId));
    if (!organization) return refuse('resource_not_found');
    // The seed file does not add a removed member again.
    if (before && (before.status === 'removed' || before.role === role))
      return accepted([], 'member', before);
    const isLast = before?.role === 'owner' && organization.owners === 1;
    if (isLast) return refuse('last_owner');
    return addMember(organization, before, personId, role, wallNow);
  },
};

export interface ChangeRole {
  readonly id: Id<'member'>;
  readonly role: Role;
  /** Null for an actor who is not a member. */
  readonly byRole: Role | null;
}

export const changeRole: CommandKind<ChangeRole> = {
  name: 'members.change_role',
  success: 'ok',
  reads: ({ id }, { orgId }) => readsMember(id, orgId),
  authorize: ({ id, role, byRole }, _context, rows) => {
    const changesOwners = role === 'owner' || rows.get<MemberRow>('member', id)?.role === 'owner';
    return changesOwners && byRole !== 'owner' ? refuseOwners() : undefined;
  },
  decide: ({ id, role }, { orgId, wallNow }, rows) => {
    const found = findActiveMember(rows, orgId, id, 'change_role');
    if ('ok' in found) return found;
    const { member, organization } = found;
    if (member.role === role) return accepted([], 'member', member);
    if (member.role === 'owner' && organization.owners === 1) return refuse('last_owner');
    const row = { ...member, role, version: member.version + 1, updatedAt: wallNow };
    return accepted(
      [
        change(memberMachine, 'change_role', member, row),
        ...countOwners(organization, ownersOf(row) - ownersOf(member), wallNow),
      ],
      'member',
      row,
    );
  },
};

export interface RemoveMember {
  readonly id: Id<'member'>;
  /** Null for an actor who is not a member. */
  readonly byRole: Role | null;
  readonly byPersonId: Id<'person'>;
}

/** Admins and owners may remove others; every member may leave. */
export const removeMember: CommandKind<RemoveMember> = {
  name: 'members.remove',
  success: 'ok',
  reads: ({ id }, { orgId }) => readsMember(id, orgId),
  authorize: ({ id, byRole, byPersonId }, _context, rows) => {
    if (id === memberIdOf(byPersonId)) return undefined;
    if (byRole === null || !isAtLeast(byRole, 'admin'))
      return refuse('role_missing', { details: { role: 'admin' } });
    const isOwner = rows.get<MemberRow>('member', id)?.role === 'owner';
    return isOwner && byRole !== 'owner' ? refuseOwners() : undefined;
  },
  decide: ({ id }, { orgId, wallNow }, rows) => {
    const found = findActiveMember(rows, orgId, id, 'remove');
    if ('ok' in found) return found;
    const { member, organization } = found;
    if (member.role === 'owner' && organization.owners === 1) return refuse('last_owner');
    const row: MemberRow = { ...member, status: 'removed', version: member.version + 1, updatedAt: wallNow };
    return accepted(
      [
        change(memberMachine, 'remove', member, row),
        ...countOwners(organization, -ownersOf(member), wallNow),
      ],
      'member',
      row,
    );
  },
};

export interface ResetMember {
  readonly id: Id<'member'>;
  /** Created by the prepare step; only this response shows it. */
  readonly url: string;
  readonly expiresAt: Instant;
}

/** A password reset link for a member. The command changes no row, but the audit trail records who created the link. */
export const resetMember: PreparedCommand<ResetMember> = {
  name: 'members.reset_link',
  success: 'created',
  needsPrepare: true,
  answersWithSecret: true,
  reads: ({ id }) => [{ resource: 'member', id, lock: 'none' }],
  decide: ({ id, url, expiresAt }, _context, rows) => {
    const member = rows.get<MemberRow>('member', id);
    if (member?.status !== 'active') return refuse('resource_not_found');
    const shown = {
      ...({ object: 'reset_link', sandbox: true, status: 'ok', id } as const),
      expiresAt: instantToText(expiresAt),
    };
    const answer = { resource: 'member', row: member, shown } as const;
    return { ok: true, changes: [], answer, secrets: { url } };
  },
};

const accountActions = [
  'sign_in',
  'sign_out',
  'rename',
  'change_email',
  'change_password',
  'reset_password',
  'enable_two_factor',
  'disable_two_factor',
  'regenerate_backup_codes',
  'add_passkey',
  'remove_passkey',
  'revoke_sessions',
] as const;
export type AccountAction = (typeof accountActions)[number];

/** Account actions of a member. They change no row of the organization, but its audit trail records them. */
export const accountCommands = Object.fromEntries(
  accountActions.map((action) => [action, accountCommand(action)]),
) as Readonly<Record<AccountAction, CommandKind<{ readonly personId: Id<'person'> }>>>;

function accountCommand(action: AccountAction): CommandKind<{ readonly personId: Id<'person'> }> {
  return {
    name: `account.${action}`,
    success: 'ok',
    reads: ({ personId }) => [{ resource: 'member', id: memberIdOf(personId), lock: 'none' }],
    decide: ({ personId }, _context, rows) => {
      const member = rows.get<MemberRow>('member', memberIdOf(personId));
      return member ? accepted([], 'member', member) : refuse('resource_not_found');
    },
  };
}

/** Adds a person as a member, adds a removed member again, or changes the role of an active one. */
export function addMember(
  organization: OrganizationRow,
  before: MemberRow | undefined,
  personId: Id<'person'>,
  role: Role,
  now: Instant,
) {
  const row: MemberRow = before
    ? { ...before, role, status: 'active', version: before.version + 1, updatedAt: now }
    : newMember(organization.orgId, personId, role, now);
  const action = !before ? 'join' : before.status === 'removed' ? 'rejoin' : 'change_role';
  const ownersBefore = before?.status === 'active' ? ownersOf(before) : 0;
  return accepted(
    [
      change(memberMachine, action, before ?? null, row),
      ...countOwners(organization, ownersOf(row) - ownersBefore, now),
    ],
    'member',
    row,
  );
}

function newMember(orgId: Id<'organization'>, personId: Id<'person'>, role: Role, now: Instant): MemberRow {
  return {
    ...{ orgId, id: memberIdOf(personId), personId, role },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

function ownersOf({ role }: MemberRow): number {
  return role === 'owner' ? 1 : 0;
}

function findActiveMember(
  rows: LoadedRows,
  orgId: Id<'organization'>,
  id: Id<'member'>,
  action: ActionOf<typeof memberMachine>,
): { readonly member: MemberRow; readonly organization: OrganizationRow } | Refusal {
  const member = rows.get<MemberRow>('member', id);
  const organization = rows.get<OrganizationRow>('organization', orgId);
  // A removed member is reported as not found.
  if (!member || member.status === 'removed' || !organization) return refuse('resource_not_found');
  return refuseMove(memberMachine, action, member) ?? { member, organization };
}

export function refuseOwners(): Refusal {
  return refuse('role_missing', {
    message: 'Only an owner can add, change or remove owners.',
    details: { role: 'owner' },
  });
}
