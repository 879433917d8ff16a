import { accepted, type CommandKind, change, type LoadedRows, type Read } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, idPrefixes } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import { isAtLeast, type Role } from '../../kernel/permissions.ts';
import type { Instant } from '../../kernel/table.ts';
import { countOwners, newOrganization, organizationMachine } from './machine.ts';
import type { MemberRow } from './member-table.ts';
import type { OrganizationRow } from './table.ts';

/** A person's place in an organization. Whoever leaves keeps the row, so that the audit trail can still be read. */
export const memberMachine = defineMachine<MemberRow>({
  resource: 'member',
  states: ['active', 'removed'],
  moves: [
    { action: 'join', from: [], to: ['active'], event: 'joined' },
    { action: 'rejoin', from: ['removed'], to: ['active'], event: 'joined' },
    { action: 'change_role', from: ['active'], to: ['active'], event: 'role_changed' },
    { action: 'remove', from: ['active'], to: ['removed'] },
  ],
});

/** A person is a member of an organization once: the id of the membership is that of the person. */
export function memberIdOf(personId: string): string {
  return formatId('member', personId.slice(idPrefixes.person.length + 1));
}

/** A member and the organization, which counts its owners. */
export function readsMember(id: string, orgId: string): readonly Read[] {
  return [
    { resource: 'member', id, lock: 'update' },
    { resource: 'organization', id: orgId, lock: 'update' },
  ];
}

/** An organization is made by somebody, who is its first owner. */
export const createOrganization: CommandKind<{ readonly name: string; readonly personId: string }> = {
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

/** The seed file makes a person a member, or changes the role. */
export const declareMember: CommandKind<{ readonly personId: string; readonly role: Role }> = {
  name: 'members.declare',
  success: 'ok',
  reads: ({ personId }, { orgId }) => readsMember(memberIdOf(personId), orgId),
  decide: ({ personId, role }, { orgId, wallNow }, rows) => {
    const organization = rows.get<OrganizationRow>('organization', orgId);
    const before = rows.get<MemberRow>('member', memberIdOf(personId));
    if (!organization) return refuse('resource_not_found');
    // Who was removed by somebody is not brought back by the file.
    if (before && (before.status === 'removed' || before.role === role))
      return accepted([], 'member', before);
    const isLast = before?.role === 'owner' && organization.owners === 1;
    if (isLast) return refuse('last_owner');
    return joined(organization, before, personId, role, wallNow);
  },
};

export interface ChangeRole {
  readonly id: string;
  readonly role: Role;
  readonly byRole: Role;
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
    const found = ready(rows, orgId, id, 'change_role');
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
  readonly id: string;
  readonly byRole: Role;
  readonly byPersonId: string;
}

/** Whoever may remove others does; everybody may leave. */
export const removeMember: CommandKind<RemoveMember> = {
  name: 'members.remove',
  success: 'ok',
  reads: ({ id }, { orgId }) => readsMember(id, orgId),
  authorize: ({ id, byRole, byPersonId }, _context, rows) => {
    if (id === memberIdOf(byPersonId)) return undefined;
    if (!isAtLeast(byRole, 'admin')) return refuse('role_missing', { details: { role: 'admin' } });
    const isOwner = rows.get<MemberRow>('member', id)?.role === 'owner';
    return isOwner && byRole !== 'owner' ? refuseOwners() : undefined;
  },
  decide: ({ id }, { orgId, wallNow }, rows) => {
    const found = ready(rows, orgId, id, 'remove');
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
  readonly id: string;
  /** Made before; the answer shows it, once. */
  readonly url: string;
  readonly expiresAt: Instant;
}

/** A link with which a member chooses a new password. Nothing changes yet, but the audit trail says who made it. */
export const resetMember: CommandKind<ResetMember> = {
  name: 'members.reset_link',
  success: 'created',
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
  'change_password',
  'reset_password',
  'enable_two_factor',
  'disable_two_factor',
  'revoke_sessions',
] as const;
export type AccountAction = (typeof accountActions)[number];

/** What a member did with their account. Nothing of the organization changes, but its audit trail has a row. */
export const noteAccount = Object.fromEntries(
  accountActions.map((action) => [action, accountCommand(action)]),
) as Readonly<Record<AccountAction, CommandKind<{ readonly personId: string }>>>;

function accountCommand(action: AccountAction): CommandKind<{ readonly personId: string }> {
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

/** A person becomes a member, for the first time or again, or has another role from now on. */
export function joined(
  organization: OrganizationRow,
  before: MemberRow | undefined,
  personId: string,
  role: Role,
  now: Instant,
) {
  const row: MemberRow = before
    ? { ...before, role, status: 'active', version: before.version + 1, updatedAt: now }
    : newMember(organization.orgId, personId, role, now);
  const action = !before ? 'join' : before.status === 'removed' ? 'rejoin' : 'change_role';
  const owned = before?.status === 'active' ? ownersOf(before) : 0;
  return accepted(
    [
      change(memberMachine, action, before ?? null, row),
      ...countOwners(organization, ownersOf(row) - owned, now),
    ],
    'member',
    row,
  );
}

function newMember(orgId: string, personId: string, role: Role, now: Instant): MemberRow {
  return {
    ...{ orgId, id: memberIdOf(personId), personId, role },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

function ownersOf({ role }: MemberRow): number {
  return role === 'owner' ? 1 : 0;
}

function ready(
  rows: LoadedRows,
  orgId: string,
  id: string,
  action: string,
): { readonly member: MemberRow; readonly organization: OrganizationRow } | Refusal {
  const member = rows.get<MemberRow>('member', id);
  const organization = rows.get<OrganizationRow>('organization', orgId);
  // Who was removed is no longer there for anybody who looks at the members.
  if (!member || member.status === 'removed' || !organization) return refuse('resource_not_found');
  return refuseMove(memberMachine, action, member) ?? { member, organization };
}

export function refuseOwners(): Refusal {
  return refuse('role_missing', {
    message: 'Only an owner makes, changes or removes owners.',
    details: { role: 'owner' },
  });
}
