import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstant } from '../../kernel/list.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, id, list, nullable, resource, strict, Time, text } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import {
  type ApiKeySettings,
  apiKeyMachine,
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from './machine.ts';
import { prepareCreateApiKey, prepareRotateApiKey, prepareUpdateApiKey } from './prepare.ts';
import { findKeys } from './store.ts';
import { type ApiKeyRow, apiKeysTable } from './table.ts';

const ApiKeySchema = resource('api_key', apiKeyMachine.states, {
  id: id('api_key'),
  applicationId: id('application'),
  name: Type.String(),
  lastFour: Type.String(),
  scopes: Type.Array(Type.Enum([...scopes])),
  allowedCidrs: Type.Array(Type.String(), { description: 'Empty if the key works from every network.' }),
  expiresAt: nullable(Time),
  mayReset: Type.Boolean({ description: 'Whether the key may reset the organization.' }),
  replaces: nullable(id('api_key')),
  replacedBy: nullable(id('api_key')),
  createdAt: Time,
  updatedAt: Time,
});

const WithKeySchema = Type.Object({
  ...ApiKeySchema.properties,
  key: Type.Optional(Type.String({ description: 'The key. Only the response to its creation has it.' })),
});

const ListedSchema = Type.Object(
  {
    ...ApiKeySchema.properties,
    status: Type.Enum([...apiKeyMachine.states, 'expired']),
    lastUsedAt: nullable(Time),
    lastUsedIp: nullable(Type.String()),
  },
  component('ListedApiKey'),
);

const answersKey = { response: ApiKeySchema, responseName: 'ApiKey' } as const;
const answersWithKey = { response: WithKeySchema, responseName: 'ApiKeyWithSecret' } as const;

/** Only the response that creates a key contains it. No response contains its hash. */
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
    expiresAt: shownInstant(row.expiresAt),
    mayReset: row.mayReset,
    replaces: row.replaces,
    replacedBy: row.replacedBy,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};

const level = 'application';
const settings = {
  name: text(limits.nameLengthMax),
  scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true }),
  expiresAt: nullable(Time),
  allowedCidrs: Type.Array(text(50), { maxItems: limits.apiKeyNetworksMax, uniqueItems: true }),
  mayReset: Type.Boolean(),
};
const CreateBody = strict({
  name: settings.name,
  scopes: settings.scopes,
  expiresAt: Type.Optional(settings.expiresAt),
  allowedCidrs: Type.Optional(settings.allowedCidrs),
  mayReset: Type.Optional(settings.mayReset),
});
const UpdateBody = strict(
  {
    name: Type.Optional(settings.name),
    scopes: Type.Optional(settings.scopes),
    expiresAt: Type.Optional(settings.expiresAt),
    allowedCidrs: Type.Optional(settings.allowedCidrs),
    mayReset: Type.Optional(settings.mayReset),
  },
  { minProperties: 1 },
);
const RotateBody = strict({
  overlapSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.apiKeyOverlapSecondsMax })),
});

function settingsOf({
  name,
  scopes,
  expiresAt,
  allowedCidrs,
  mayReset,
}: Static<typeof UpdateBody>): Partial<ApiKeySettings> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === null ? null : Date.parse(expiresAt) }),
    ...(allowedCidrs === undefined ? {} : { allowedCidrs }),
    ...(mayReset === undefined ? {} : { mayReset }),
  };
}

export const apiKeyRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listApiKeys',
    method: 'GET',
    path: 'api_keys',
    level,
    role: 'viewer',
    summary: 'List the API keys of the application with their last use, newest first',
    response: list(ListedSchema),
    responseName: 'ApiKeyList',
    flushBefore: 'requests',
    read: ({ reader, principal, now }) =>
      findKeys(reader, principal.orgId, principal.appId).then((keys) => ({
        data: keys.map((key) => ({
          ...apiKeyResource.present(key),
          // Expiry does not change the row: the status is computed when the list is read.
          status:
            key.status === 'active' && key.expiresAt !== null && key.expiresAt <= now
              ? 'expired'
              : key.status,
          lastUsedAt: shownInstant(key.lastUsedAt),
          lastUsedIp: key.lastUsedIp,
        })),
        hasMore: false,
        nextCursor: null,
      })),
  },
  consoleWriteRoute({
    operationId: 'createApiKey',
    method: 'POST',
    path: 'api_keys',
    level,
    role: 'developer',
    summary: 'Create an API key; only this response contains it',
    ...answersWithKey,
    body: CreateBody,
    target: null,
    command: createApiKey,
    input: ({ principal, body }) => ({
      settings: {
        ...{ expiresAt: null, allowedCidrs: [], mayReset: false },
        ...settingsOf(body),
        ...{ name: body.name, scopes: body.scopes },
      },
      mayGrantReset: principal.mayReset,
    }),
    prepare: prepareCreateApiKey,
  }),
  consoleWriteRoute({
    operationId: 'updateApiKey',
    method: 'POST',
    path: 'api_keys/{id}/update',
    level,
    role: 'developer',
    summary: 'Change the name, the scopes, the expiry, the networks or the reset permission of a key',
    ...answersKey,
    body: UpdateBody,
    target: 'api_key',
    command: updateApiKey,
    input: ({ principal, params, body }) => ({
      id: idFrom('api_key', params.id),
      patch: settingsOf(body),
      mayGrantReset: principal.mayReset,
    }),
    prepare: prepareUpdateApiKey,
  }),
  consoleWriteRoute({
    operationId: 'rotateApiKey',
    method: 'POST',
    path: 'api_keys/{id}/rotate',
    level,
    role: 'developer',
    summary: 'Create a new key with the same permissions; the old key expires after the overlap',
    ...answersWithKey,
    body: RotateBody,
    isBodyOptional: true,
    target: 'api_key',
    command: rotateApiKey,
    input: ({ principal, params, body }) => ({
      id: idFrom('api_key', params.id),
      mayGrantReset: principal.mayReset,
      overlapSeconds: body.overlapSeconds ?? limits.apiKeyOverlapSecondsDefault,
    }),
    prepare: prepareRotateApiKey,
  }),
  consoleWriteRoute({
    operationId: 'revokeApiKey',
    method: 'POST',
    path: 'api_keys/{id}/revoke',
    level,
    role: 'developer',
    summary: 'Revoke a key immediately and permanently',
    ...answersKey,
    allowsArchived: true,
    target: 'api_key',
    command: revokeApiKey,
    input: ({ params }) => ({ id: idFrom('api_key', params.id) }),
  }),
];
