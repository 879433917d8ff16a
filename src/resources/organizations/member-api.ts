import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { roles } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
import { changeRole, memberMachine, removeMember, resetMember } from './member-machine.ts';
import { findMembers, type KnownMember } from './member-store.ts';
import { type MemberRow, membersTable } from './member-table.ts';

export const memberResource: Resource<MemberRow> = {
  name: 'member',
  table: membersTable,
  machine: memberMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'member',
    sandbox: true,
    status: row.status,
    id: row.id,
    personId: row.personId,
    role: row.role,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};

function presentKnown({ id, personId, name, email, hasTwoFactor, role, createdAt }: KnownMember): Presented {
  return {
    ...{ object: 'member', sandbox: true, status: 'active' },
    ...{ id, personId, name, email, role, twoFactor: hasTwoFactor, createdAt: instantToText(createdAt) },
  };
}

const RoleBody = strict({ role: Type.Enum([...roles]) });

export const memberRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listMembers',
    method: 'GET',
    path: 'members',
    level: 'organization',
    role: 'viewer',
    summary: 'The members of the organization, in the order in which they came',
    read: ({ reader, principal }) =>
      findMembers(reader, principal.orgId, limits.membersMax).then((members) => ({
        data: members.map(presentKnown),
        hasMore: false,
        nextCursor: null,
      })),
  },
  {
    operationId: 'changeMemberRole',
    method: 'POST',
    path: 'members/{id}/role',
    level: 'organization',
    role: 'admin',
    summary: 'Give a member another role; owners are made and changed by owners',
    body: RoleBody,
    target: 'member',
    command: changeRole,
    input: ({ principal, params, body }) => ({
      id: params.id ?? '',
      role: (body as Static<typeof RoleBody>).role,
      byRole: principal.role,
    }),
  },
  {
    operationId: 'removeMember',
    method: 'POST',
    path: 'members/{id}/remove',
    level: 'organization',
    // Everybody may leave; who may remove others is the machine's to say.
    role: 'viewer',
    summary: 'Remove a member, or leave',
    target: 'member',
    command: removeMember,
    input: ({ principal, params }) => ({
      id: params.id ?? '',
      byRole: principal.role,
      byPersonId: principal.actor.id,
    }),
  },
  {
    operationId: 'createResetLink',
    method: 'POST',
    path: 'members/{id}/reset_link',
    level: 'organization',
    role: 'owner',
    summary: 'Make a link with which a member chooses a new password; the answer shows it, once',
    target: 'member',
    command: resetMember,
    input: ({ params }) => ({ id: params.id ?? '' }),
  },
];
