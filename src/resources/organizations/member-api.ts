import { Type } from 'typebox';
import { assert } from '../../kernel/assert.ts';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { roles } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, id, list, resource, strict, Time } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import { changeRole, memberMachine, removeMember, resetMember } from './member-machine.ts';
import { prepareResetMember } from './member-prepare.ts';
import { findMembers, type KnownMember } from './member-store.ts';
import { type MemberRow, membersTable } from './member-table.ts';

const shown = {
  id: id('member'),
  personId: id('person'),
  role: Type.Enum([...roles]),
  createdAt: Time,
};

const MembershipSchema = resource('member', memberMachine.states, { ...shown, updatedAt: Time });

const MemberSchema = Type.Object(
  {
    ...resource('member', ['active'], shown).properties,
    name: Type.String(),
    email: Type.String(),
    twoFactor: Type.Boolean({ description: 'Whether the person signs in with a second factor.' }),
  },
  component('Member'),
);

const ResetLinkSchema = resource('reset_link', ['ok'], {
  id: id('member'),
  expiresAt: Time,
  url: Type.Optional(Type.String({ description: 'The link. Only the response to the creation has it.' })),
});

const answersMembership = { response: MembershipSchema, responseName: 'Membership' } as const;

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
    summary: 'List the members of the organization, oldest first',
    response: list(MemberSchema),
    responseName: 'MemberList',
    read: ({ reader, principal }) =>
      findMembers(reader, principal.orgId, limits.membersMax).then((members) => ({
        data: members.map(presentKnown),
        hasMore: false,
        nextCursor: null,
      })),
  },
  consoleWriteRoute({
    operationId: 'changeMemberRole',
    method: 'POST',
    path: 'members/{id}/role',
    level: 'organization',
    role: 'admin',
    summary: "Change a member's role; only owners can add or change owners",
    ...answersMembership,
    body: RoleBody,
    target: 'member',
    command: changeRole,
    input: ({ principal, params, body }) => ({
      id: idFrom('member', params.id),
      role: body.role,
      byRole: principal.role,
    }),
  }),
  consoleWriteRoute({
    operationId: 'removeMember',
    method: 'POST',
    path: 'members/{id}/remove',
    level: 'organization',
    // Every member may leave. The command checks the permission to remove others.
    role: 'viewer',
    summary: 'Remove a member, or leave',
    ...answersMembership,
    target: 'member',
    command: removeMember,
    input: ({ principal: { actor, role }, params }) => {
      assert(actor.kind === 'person', 'only a person removes a member');
      return { id: idFrom('member', params.id), byRole: role, byPersonId: actor.id };
    },
  }),
  consoleWriteRoute({
    operationId: 'createResetLink',
    method: 'POST',
    path: 'members/{id}/reset_link',
    level: 'organization',
    role: 'owner',
    summary: 'Create a password reset link for a member; only this response shows it',
    response: ResetLinkSchema,
    responseName: 'ResetLink',
    target: 'member',
    command: resetMember,
    input: ({ params }) => ({ id: idFrom('member', params.id) }),
    prepare: prepareResetMember,
  }),
];
