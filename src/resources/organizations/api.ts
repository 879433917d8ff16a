import { Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { id, resource, strict, Time, text } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import { DeletedRows } from './deletion-views.ts';
import { deleteOrganization, organizationMachine, renameOrganization, requireTwoFactor } from './machine.ts';
import { prepareDeleteOrganization, prepareRequireTwoFactor } from './prepare.ts';
import { type OrganizationRow, organizationsTable } from './table.ts';

const shown = { id: id('organization'), name: Type.String() };

export const OrganizationSchema = resource('organization', organizationMachine.states, {
  ...shown,
  requiresTwoFactor: Type.Boolean({ description: 'Members without a second factor have no access.' }),
  createdAt: Time,
  updatedAt: Time,
});

const DeletedSchema = resource('organization', ['deleted'], { ...shown, deleted: DeletedRows });

/** The console and the seed file create organizations. An API key reads its own organization with `developer_api_status`. */
export const organizationResource: Resource<OrganizationRow> = {
  name: 'organization',
  table: organizationsTable,
  machine: organizationMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'organization',
    sandbox: true,
    status: row.status,
    id: row.id,
    name: row.name,
    requiresTwoFactor: row.requiresTwoFactor,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};

const DeleteBody = strict({ name: text(limits.nameLengthMax) });
const TwoFactorBody = strict({ isRequired: Type.Boolean() });
const RenameBody = strict({ name: text(limits.nameLengthMax) });

const answersOrganization = { response: OrganizationSchema, responseName: 'Organization' } as const;

export const organizationRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'retrieveOrganization',
    method: 'GET',
    path: 'organization',
    level: 'organization',
    role: 'viewer',
    summary: 'The organization',
    ...answersOrganization,
    read: ({ reader, principal: { orgId } }) =>
      reader
        .byKey(organizationsTable, orgId, orgId)
        .then((row) => (row ? organizationResource.present(row) : refuse('resource_not_found'))),
  },
  consoleWriteRoute({
    operationId: 'renameOrganization',
    method: 'POST',
    path: 'organization/rename',
    level: 'organization',
    role: 'admin',
    summary: 'Rename the organization',
    ...answersOrganization,
    body: RenameBody,
    target: 'organization',
    command: renameOrganization,
    input: ({ body }) => ({ name: body.name }),
  }),
  consoleWriteRoute({
    operationId: 'requireTwoFactor',
    method: 'POST',
    path: 'organization/two_factor',
    level: 'organization',
    role: 'owner',
    summary: 'Require a second factor of all members, or end that; you must have one yourself',
    ...answersOrganization,
    body: TwoFactorBody,
    target: 'organization',
    command: requireTwoFactor,
    input: ({ body }) => ({ isRequired: body.isRequired }),
    prepare: prepareRequireTwoFactor,
  }),
  consoleWriteRoute({
    operationId: 'deleteOrganization',
    method: 'POST',
    path: 'organization/delete',
    level: 'organization',
    role: 'owner',
    summary: 'Delete the organization with everything that belongs to it; name must be its name',
    response: DeletedSchema,
    responseName: 'OrganizationDeleted',
    body: DeleteBody,
    target: 'organization',
    command: deleteOrganization,
    input: ({ body }) => ({ name: body.name }),
    prepare: prepareDeleteOrganization,
  }),
];
