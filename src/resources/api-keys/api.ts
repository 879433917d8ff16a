import type { Resource } from '../../kernel/command.ts';
import { instantToText } from '../../kernel/list.ts';
import { type ApiKeyRow, apiKeyMachine } from './machine.ts';
import { apiKeysTable } from './store.ts';

/** Keys come from the seed file and the demo. Neither the key nor its hash is ever shown. */
export const apiKeyResource: Resource<ApiKeyRow> = {
  name: 'api_key',
  table: apiKeysTable,
  machine: apiKeyMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'api_key',
    sandbox: true,
    status: row.status,
    id: row.id,
    applicationId: row.appId,
    name: row.name,
    lastFour: row.lastFour,
    scopes: row.scopes,
    allowedCidrs: row.allowedCidrs,
    expiresAt: row.expiresAt === null ? null : instantToText(row.expiresAt),
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};
