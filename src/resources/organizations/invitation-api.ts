import { Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { roles } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { id, list, nullable, PersonEmail, resource, strict, Time } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import { createInvitation, invitationMachine, revokeInvitation } from './invitation-machine.ts';
import { prepareCreateInvitation } from './invitation-prepare.ts';
import { findOpenInvitations } from './invitation-store.ts';
import { type InvitationRow, invitationsTable } from './invitation-table.ts';

const InvitationSchema = resource('invitation', invitationMachine.states, {
  id: id('invitation'),
  email: nullable(Type.String({ description: 'Only the person with this address can accept it.' })),
  role: Type.Enum([...roles]),
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time,
});

const WithLinkSchema = Type.Object({
  ...InvitationSchema.properties,
  url: Type.Optional(Type.String({ description: 'The link. Only the response to the creation has it.' })),
});

/** Only the response to the creation shows the link. No response shows its hash. */
export const invitationResource: Resource<InvitationRow> = {
  name: 'invitation',
  table: invitationsTable,
  machine: invitationMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'invitation',
    sandbox: true,
    status: row.status,
    id: row.id,
    email: row.email,
    role: row.role,
    expiresAt: instantToText(row.expiresAt),
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};

const CreateBody = strict({
  email: Type.Optional(PersonEmail),
  role: Type.Enum([...roles]),
});

export const invitationRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listInvitations',
    method: 'GET',
    path: 'invitations',
    level: 'organization',
    role: 'admin',
    summary: 'Invitations that can still be accepted, newest first',
    response: list(InvitationSchema),
    responseName: 'InvitationList',
    read: ({ reader, principal, now }) =>
      findOpenInvitations(reader, principal.orgId, now, limits.invitationsPendingMax).then((rows) => ({
        data: rows.map(invitationResource.present),
        hasMore: false,
        nextCursor: null,
      })),
  },
  consoleWriteRoute({
    operationId: 'createInvitation',
    method: 'POST',
    path: 'invitations',
    level: 'organization',
    role: 'admin',
    summary: 'Create an invitation; only this response shows its link',
    response: WithLinkSchema,
    responseName: 'InvitationWithLink',
    body: CreateBody,
    target: null,
    command: createInvitation,
    input: ({ body }) => {
      const { email, role } = body;
      return { email: email?.toLowerCase() ?? null, role };
    },
    prepare: prepareCreateInvitation,
  }),
  consoleWriteRoute({
    operationId: 'revokeInvitation',
    method: 'POST',
    path: 'invitations/{id}/revoke',
    level: 'organization',
    role: 'admin',
    summary: 'Revoke an invitation',
    response: InvitationSchema,
    responseName: 'Invitation',
    target: 'invitation',
    command: revokeInvitation,
    input: ({ params }) => ({ id: idFrom('invitation', params.id) }),
  }),
];
