import { Type } from 'typebox';
import type { ConsoleRoute, Route, WriteRequest } from '../../kernel/route.ts';
import { resource } from '../../kernel/schema.ts';
import { resetOrganization } from './reset-commands.ts';

const ResetSchema = resource('reset', ['ok'], {
  deleted: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'How many rows of each kind are gone.',
  }),
});

const meta = {
  method: 'POST',
  summary: 'Delete all records of the organization and return its clocks to real time; what was set up stays',
  target: 'organization',
  command: resetOrganization,
  // Which applications there are is found out before it is submitted.
  input: ({ principal }: WriteRequest) => ({ appIds: [], isPermitted: principal.mayReset }),
} as const;

/** For keys with all write scopes and the permission to reset. People have their own route, which takes the role admin. */
export const resetRoute: Route = {
  ...meta,
  operationId: 'resetOrganization',
  path: 'developer_api_reset',
  scope: ['payments:write', 'customers:write', 'transfers:write', 'webhooks:write'],
  tag: 'Reset',
  response: ResetSchema,
  responseName: 'Reset',
};

export const consoleResetRoute: ConsoleRoute = {
  ...meta,
  operationId: 'resetOrganizationInConsole',
  path: 'reset',
  level: 'organization',
  role: 'admin',
};
