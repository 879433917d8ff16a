import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { roles } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { PersonEmail, strict } from '../../kernel/schema.ts';
import { createInvitation, invitationMachine, revokeInvitation } from './invitation-machine.ts';
import { findOpenInvitations } from './invitation-store.ts';
import { type InvitationRow, invitationsTable } from './invitation-table.ts';

/** The link is shown when it is made, and its hash never. */
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
    read: ({ reader, principal, now }) =>
      findOpenInvitations(reader, principal.orgId, now, limits.invitationsPendingMax).then((rows) => ({
        data: rows.map(invitationResource.present),
        hasMore: false,
        nextCursor: null,
      })),
  },
  {
    operationId: 'createInvitation',
    method: 'POST',
    path: 'invitations',
    level: 'organization',
    role: 'admin',
    summary: 'Invite somebody; the answer shows the link, once',
    body: CreateBody,
    target: null,
    command: createInvitation,
    input: ({ body }) => {
      const { email, role } = body as Static<typeof CreateBody>;
      return { email: email?.toLowerCase() ?? null, role };
    },
  },
  {
    operationId: 'revokeInvitation',
    method: 'POST',
    path: 'invitations/{id}/revoke',
    level: 'organization',
    role: 'admin',
    summary: 'Make a link useless',
    target: 'invitation',
    command: revokeInvitation,
    input: ({ params }) => ({ id: params.id ?? '' }),
  },
];
