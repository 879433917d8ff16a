import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstant } from '../../kernel/list.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { nullable, strict, Time, text } from '../../kernel/schema.ts';
import {
  type ApiKeySettings,
  apiKeyMachine,
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from './machine.ts';
import { findKeys } from './store.ts';
import { type ApiKeyRow, apiKeysTable } from './table.ts';

/** A key is shown in the answer that makes it, and its hash never. */
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
    summary: 'The keys of the application, newest first, with their last use',
    read: ({ reader, principal, now }) =>
      findKeys(reader, principal.orgId, principal.appId).then((keys) => ({
        data: keys.map((key) => ({
          ...apiKeyResource.present(key),
          // Nothing happens to a key at the moment at which it expires: it is seen when somebody looks.
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
  {
    operationId: 'createApiKey',
    method: 'POST',
    path: 'api_keys',
    level,
    role: 'developer',
    summary: 'Make a key; the answer shows it, once',
    body: CreateBody,
    target: null,
    command: createApiKey,
    input: ({ principal, body }) => ({
      settings: {
        ...{ expiresAt: null, allowedCidrs: [], mayReset: false },
        ...settingsOf(body as Static<typeof CreateBody>),
      },
      mayGrantReset: principal.mayReset,
    }),
  },
  {
    operationId: 'updateApiKey',
    method: 'POST',
    path: 'api_keys/{id}/update',
    level,
    role: 'developer',
    summary: 'Change the name, the scopes, the expiry, the networks or the reset permission of a key',
    body: UpdateBody,
    target: 'api_key',
    command: updateApiKey,
    input: ({ principal, params, body }) => ({
      id: params.id ?? '',
      patch: settingsOf(body as Static<typeof UpdateBody>),
      mayGrantReset: principal.mayReset,
    }),
  },
  {
    operationId: 'rotateApiKey',
    method: 'POST',
    path: 'api_keys/{id}/rotate',
    level,
    role: 'developer',
    summary: 'Make a new key with the same rights; the one before ends after the overlap',
    body: RotateBody,
    isBodyOptional: true,
    target: 'api_key',
    command: rotateApiKey,
    input: ({ principal, params, body }) => ({
      id: params.id ?? '',
      mayGrantReset: principal.mayReset,
      overlapSeconds:
        (body as Static<typeof RotateBody>).overlapSeconds ?? limits.apiKeyOverlapSecondsDefault,
    }),
  },
  {
    operationId: 'revokeApiKey',
    method: 'POST',
    path: 'api_keys/{id}/revoke',
    level,
    role: 'developer',
    summary: 'End a key at once and for ever',
    allowsArchived: true,
    target: 'api_key',
    command: revokeApiKey,
    input: ({ params }) => ({ id: params.id ?? '' }),
  },
];
