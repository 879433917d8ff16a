import { limits } from '../../kernel/limits.ts';
import { resource, strict, text } from '../../kernel/schema.ts';
import { consoleWriteRoute, writeRoute } from '../../kernel/write-route.ts';
import { DeletedRows } from './deletion-views.ts';
import { resetOrganization } from './reset-commands.ts';
import { prepareResetOrganization } from './reset-prepare.ts';

const ResetSchema = resource('reset', ['ok'], { deleted: DeletedRows });

const meta = {
  method: 'POST',
  summary:
    'Delete all records of the organization and return its clocks to real time; its configuration stays',
  target: 'organization',
  command: resetOrganization,
  prepare: prepareResetOrganization,
  response: ResetSchema,
  responseName: 'Reset',
} as const;

const ResetBody = strict({ name: text(limits.nameLengthMax) });

/** For keys with all write scopes and the permission to reset. People use the console route, which requires the role admin. */
export const resetRoute = writeRoute({
  ...meta,
  operationId: 'resetOrganization',
  path: 'developer_api_reset',
  scope: ['payments:write', 'customers:write', 'transfers:write', 'webhooks:write'],
  tag: 'Reset',
  input: ({ principal }) => ({ isPermitted: principal.mayReset, name: null }),
});

export const consoleResetRoute = consoleWriteRoute({
  ...meta,
  operationId: 'resetOrganizationInConsole',
  path: 'reset',
  level: 'organization',
  role: 'admin',
  summary: `${meta.summary}; name must be the name of the organization`,
  body: ResetBody,
  input: ({ principal, body }) => ({ isPermitted: principal.mayReset, name: body.name }),
});
