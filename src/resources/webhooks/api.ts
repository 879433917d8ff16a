import { Type } from 'typebox';
import { retryProfileNames } from '../../kernel/application-settings.ts';
import type { Resource } from '../../kernel/command.ts';
import { eventFilters } from '../../kernel/event.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { shownInstant } from '../../kernel/list.ts';
import { requestableActions } from '../../kernel/machine.ts';
import { applicationListHandler, applicationSubresourceHandler, type Route } from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time, text } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import {
  createWebhook,
  disableWebhook,
  enableWebhook,
  presentWebhook,
  rotateSecret,
  updateWebhook,
  type WebhookFields,
  webhookMachine,
  webhookSecretPattern,
} from './machine.ts';
import { prepareCreateWebhook, prepareRotateSecret, prepareUpdateWebhook } from './prepare.ts';
import { findHealth } from './store.ts';
import { disabledReasons, type WebhookRow, webhooksTable } from './table.ts';

const Secret = Type.String({
  pattern: webhookSecretPattern,
  description: 'Your own secret: `whsec_` and 24 to 64 bytes in Base64. If omitted, Sandbank generates one.',
});

const WebhookSchema = resource('webhook', webhookMachine.states, {
  id: id('webhook'),
  applicationId: id('application'),
  url: Type.String(),
  description: nullable(Type.String()),
  eventTypes: Type.Array(Type.String()),
  retryProfile: Type.Enum([...retryProfileNames]),
  maxConcurrency: Type.Integer(),
  secretHint: Type.String({ description: 'The last four characters of the current secret.' }),
  previousSecretExpiresAt: nullable(Time),
  disabledReason: nullable(Type.Enum([...disabledReasons])),
  allowedActions: Type.Array(Type.Enum([...requestableActions(webhookMachine)])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
});

const SecretShown = Type.Object({
  ...WebhookSchema.properties,
  secret: Type.Optional(
    Type.String({
      description: `Shown once. A replay within ${limits.secretReplayMinutes} minutes by the same API key, or by the key that replaced it, shows it again; any other replay omits it.`,
    }),
  ),
});

const pendingShownMax = 10_000;

const DetailSchema = Type.Object({
  ...WebhookSchema.properties,
  health: Type.Object({
    failingSince: nullable(Time),
    lastSuccessAt: nullable(Time),
    lastFailureAt: nullable(Time),
    pendingDeliveries: Type.Integer({ description: `Counted up to ${pendingShownMax}.` }),
  }),
});

export const webhookResource: Resource<WebhookRow> = {
  name: 'webhook',
  table: webhooksTable,
  machine: webhookMachine,
  present: presentWebhook,
  emitsEvents: true,
  schema: WebhookSchema,
};

const meta = { tag: 'Webhooks', response: WebhookSchema, responseName: 'Webhook' } as const;
const writeMeta = { ...meta, method: 'POST', scope: 'webhooks:write' } as const;
const readMeta = { ...meta, method: 'GET', scope: 'webhooks:read' } as const;

/** Maps the fields of a request body. Omitted fields stay absent. */
function fieldsOf(body: {
  readonly url?: string;
  readonly description?: string | null;
  readonly eventTypes?: readonly string[];
  readonly retryProfile?: WebhookFields['retryProfile'];
  readonly maxConcurrency?: number;
}): Partial<WebhookFields> {
  const { url, description, eventTypes, retryProfile, maxConcurrency } = body;
  return {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined ? {} : { eventTypes }),
    ...(retryProfile === undefined ? {} : { retryProfile }),
    ...(maxConcurrency === undefined ? {} : { concurrencyMax: maxConcurrency }),
  };
}

const Url = text(limits.webhookUrlLengthMax);

const RotateBody = strict({
  secret: Type.Optional(Secret),
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.webhookOverlapSecondsMax,
      default: limits.webhookOverlapSecondsDefault,
      description: 'How long the previous secret also signs.',
    }),
  ),
});

function settingsSchema(types: readonly string[]) {
  return optional({
    description: nullable(text(limits.descriptionLengthMax)),
    eventTypes: Type.Array(Type.Enum([...eventFilters(types)]), {
      minItems: 1,
      maxItems: limits.webhookEventTypesMax,
      uniqueItems: true,
      description: '`*`, all of one kind such as `payment.*`, or single types.',
    }),
    retryProfile: Type.Enum([...retryProfileNames]),
    maxConcurrency: Type.Integer({
      minimum: 1,
      maximum: limits.webhookConcurrencyMax,
      description:
        'The maximum number of concurrent requests to the endpoint. With 1, first attempts are sent in order.',
    }),
  });
}

/** In the order of the OpenAPI document. */
export function webhookRoutes(types: readonly string[]): readonly Route[] {
  const settings = settingsSchema(types);
  return [createRoute(settings), ...readRoutes, updateRoute(settings), rotateRoute, ...switchRoutes];
}

function createRoute(settings: ReturnType<typeof settingsSchema>): Route {
  return writeRoute({
    ...writeMeta,
    operationId: 'createWebhook',
    path: 'developer_api_webhooks',
    summary: 'Register an endpoint; only this response shows its secret',
    response: SecretShown,
    responseName: 'WebhookWithSecret',
    body: strict({ url: Url, ...settings, secret: Type.Optional(Secret) }),
    bodyName: 'WebhookCreate',
    target: null,
    command: createWebhook,
    input: ({ principal, body }) => {
      const { eventTypes, retryProfile, maxConcurrency } = principal.settings.webhookDefaults;
      const defaults = { description: null, eventTypes, retryProfile, concurrencyMax: maxConcurrency };
      return { fields: { ...defaults, ...fieldsOf(body), url: body.url }, secret: body.secret };
    },
    prepare: prepareCreateWebhook,
  });
}

const readRoutes: readonly Route[] = [
  {
    ...readMeta,
    operationId: 'listWebhooks',
    path: 'developer_api_webhooks',
    summary: 'List the webhook endpoints of the application, newest first',
    query: listQuery(webhookMachine.states),
    response: list(WebhookSchema),
    responseName: 'WebhookList',
    read: applicationListHandler('webhook', webhooksTable, ['status'], presentWebhook),
  },
  {
    ...readMeta,
    operationId: 'retrieveWebhook',
    path: 'developer_api_webhooks/{id}',
    summary: 'Retrieve an endpoint and its health, without its secret',
    response: DetailSchema,
    responseName: 'WebhookDetail',
    read: applicationSubresourceHandler('webhook', webhooksTable, async ({ reader }, row) => {
      const health = await findHealth(reader, row.orgId, row.id, pendingShownMax);
      const { failingSince, lastSuccessAt, lastFailureAt, pending } = health;
      return {
        ...presentWebhook(row),
        health: {
          failingSince: shownInstant(failingSince),
          lastSuccessAt: shownInstant(lastSuccessAt),
          lastFailureAt: shownInstant(lastFailureAt),
          pendingDeliveries: pending,
        },
      };
    }),
  },
];

function updateRoute(settings: ReturnType<typeof settingsSchema>): Route {
  return writeRoute({
    ...writeMeta,
    operationId: 'updateWebhook',
    path: 'developer_api_webhooks/{id}/update',
    summary: 'Change the URL, the description, the event types, the retry profile or the concurrency',
    body: strict({ url: Type.Optional(Url), ...settings }, { minProperties: 1 }),
    bodyName: 'WebhookUpdate',
    target: 'webhook',
    command: updateWebhook,
    input: ({ params, body }) => ({
      id: idFrom('webhook', params.id),
      fields: fieldsOf(body),
    }),
    prepare: prepareUpdateWebhook,
  });
}

const rotateRoute = writeRoute({
  ...writeMeta,
  operationId: 'rotateWebhookSecret',
  path: 'developer_api_webhooks/{id}/rotate_secret',
  summary: 'Rotate the secret; the previous one also signs during the overlap',
  response: SecretShown,
  responseName: 'WebhookWithSecret',
  body: RotateBody,
  isBodyOptional: true,
  bodyName: 'WebhookRotateSecret',
  target: 'webhook',
  command: rotateSecret,
  input: ({ params, body }) => {
    const { secret, overlapSeconds } = body;
    return {
      id: idFrom('webhook', params.id),
      secret,
      overlapSeconds: overlapSeconds ?? limits.webhookOverlapSecondsDefault,
    };
  },
  prepare: prepareRotateSecret,
});

const switchRoutes: readonly Route[] = [
  writeRoute({
    ...writeMeta,
    operationId: 'disableWebhook',
    path: 'developer_api_webhooks/{id}/disable',
    summary: 'Stop sending; events wait until the endpoint is enabled again',
    target: 'webhook',
    command: disableWebhook,
    input: ({ params }) => ({ id: idFrom('webhook', params.id) }),
  }),
  writeRoute({
    ...writeMeta,
    operationId: 'enableWebhook',
    path: 'developer_api_webhooks/{id}/enable',
    summary: 'Enable the endpoint and send the events that waited',
    target: 'webhook',
    command: enableWebhook,
    input: ({ params }) => ({ id: idFrom('webhook', params.id) }),
  }),
];

function optional<P extends Record<string, Parameters<typeof Type.Optional>[0]>>(properties: P) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as { [K in keyof P]: ReturnType<typeof Type.Optional<P[K]>> };
}
