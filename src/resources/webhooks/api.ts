import { Type } from 'typebox';
import { retryProfileNames } from '../../kernel/application-settings.ts';
import type { Resource } from '../../kernel/command.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { shownInstant } from '../../kernel/list.ts';
import { requestableActions } from '../../kernel/machine.ts';
import {
  applicationListHandler,
  applicationSubresourceHandler,
  type Principal,
  type Route,
} from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time, text } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { openInbox } from './inbox-commands.ts';
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  presentWebhook,
  rotateSecret,
  updateWebhook,
  type WebhookFields,
  webhookMachine,
  webhookSecretPattern,
} from './machine.ts';
import {
  prepareCreateWebhook,
  prepareOpenInbox,
  prepareRotateSecret,
  prepareUpdateWebhook,
} from './prepare.ts';
import { Headers, Inbox, InboxInput, inboxOf, settingsSchema } from './settings-views.ts';
import { countRecentAttempts, recentDeliveriesMax } from './statistics-store.ts';
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
  headerNames: Type.Array(Type.String(), {
    description: 'The names of the custom headers. Their values are never shown.',
  }),
  disabledReason: nullable(Type.Enum([...disabledReasons])),
  inbox: Type.Union([...Inbox, Type.Null()], {
    description: 'The behavior of an inbox; null for other endpoints.',
  }),
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

const DetailSchema = Type.Object({
  ...WebhookSchema.properties,
  health: Type.Object({
    failingSince: nullable(Time),
    lastSuccessAt: nullable(Time),
    lastFailureAt: nullable(Time),
    pendingDeliveries: Type.Integer({ description: `Counted up to ${limits.webhookPendingCountMax}.` }),
    recentAttempts: Type.Object(
      { succeeded: Type.Integer({ minimum: 0 }), failed: Type.Integer({ minimum: 0 }) },
      {
        description: `The attempts of the newest ${recentDeliveriesMax} deliveries of the last 24 hours, in wall time.`,
      },
    ),
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

/** In the order of the OpenAPI document. */
export function webhookRoutes(types: readonly string[]): readonly Route[] {
  const settings = settingsSchema(types);
  return [
    createRoute(settings),
    inboxRoute(settings),
    ...readRoutes,
    updateRoute(settings),
    rotateRoute,
    ...switchRoutes,
  ];
}

function createRoute(settings: ReturnType<typeof settingsSchema>): Route {
  return writeRoute({
    ...writeMeta,
    operationId: 'createWebhook',
    path: 'developer_api_webhooks',
    summary: 'Register an endpoint; only this response shows its secret',
    response: SecretShown,
    responseName: 'WebhookWithSecret',
    body: strict({ url: Url, ...settings, headers: Type.Optional(Headers), secret: Type.Optional(Secret) }),
    bodyName: 'WebhookCreate',
    target: null,
    command: createWebhook,
    input: ({ principal, body }) => ({
      fields: { ...defaultsOf(principal), ...fieldsOf(body), url: body.url },
      headers: body.headers,
      secret: body.secret,
    }),
    prepare: prepareCreateWebhook,
  });
}

function inboxRoute({ eventTypes, retryProfile }: ReturnType<typeof settingsSchema>): Route {
  return writeRoute({
    ...writeMeta,
    operationId: 'openWebhookInbox',
    path: 'developer_api_webhook_inbox',
    summary:
      'Return the inbox of the application, an endpoint that Sandbank hosts; the first call creates it',
    response: SecretShown,
    responseName: 'WebhookWithSecret',
    body: strict({ eventTypes, retryProfile, inbox: Type.Optional(InboxInput) }),
    bodyName: 'WebhookInbox',
    isBodyOptional: true,
    target: null,
    command: openInbox,
    input: ({ principal, body: { inbox, ...settings } }) => ({
      requested: { ...settings, ...(inbox && { inbox: inboxOf(inbox) }) },
      defaults: defaultsOf(principal),
    }),
    prepare: prepareOpenInbox,
  });
}

/** The settings of an endpoint that its application has for new ones. */
function defaultsOf({ settings }: Pick<Principal, 'settings'>): Omit<WebhookFields, 'url'> {
  const { eventTypes, retryProfile, maxConcurrency } = settings.webhookDefaults;
  return { description: null, eventTypes, retryProfile, concurrencyMax: maxConcurrency };
}

const readRoutes: readonly Route[] = [
  {
    ...readMeta,
    operationId: 'listWebhooks',
    path: 'developer_api_webhooks',
    summary:
      'List the webhook endpoints of the application, newest first; deleted ones only with `status=deleted`',
    query: listQuery(webhookMachine.states),
    response: list(WebhookSchema),
    responseName: 'WebhookList',
    read: applicationListHandler('webhook', webhooksTable, ['status'], presentWebhook, 'deleted'),
  },
  {
    ...readMeta,
    operationId: 'retrieveWebhook',
    path: 'developer_api_webhooks/{id}',
    summary: 'Retrieve an endpoint and its health, without its secret',
    response: DetailSchema,
    responseName: 'WebhookDetail',
    read: applicationSubresourceHandler('webhook', webhooksTable, async ({ reader, now }, row) => {
      const [health, recentAttempts] = await Promise.all([
        findHealth(reader, row.orgId, row.id, limits.webhookPendingCountMax),
        countRecentAttempts(reader, row.orgId, row.id, now),
      ]);
      const { failingSince, lastSuccessAt, lastFailureAt, pending } = health;
      return {
        ...presentWebhook(row),
        health: {
          failingSince: shownInstant(failingSince),
          lastSuccessAt: shownInstant(lastSuccessAt),
          lastFailureAt: shownInstant(lastFailureAt),
          pendingDeliveries: pending,
          recentAttempts,
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
    summary:
      'Change the URL, the description, the event types, the retry profile, the concurrency, the custom headers or the behavior of an inbox',
    body: strict(
      {
        url: Type.Optional(Url),
        ...settings,
        headers: Type.Optional(Headers),
        inbox: Type.Optional(InboxInput),
      },
      { minProperties: 1 },
    ),
    bodyName: 'WebhookUpdate',
    target: 'webhook',
    command: updateWebhook,
    input: ({ params, body: { inbox, headers, ...body } }) => ({
      id: idFrom('webhook', params.id),
      headers,
      fields: { ...fieldsOf(body), ...(inbox && { inbox: inboxOf(inbox) }) },
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
  writeRoute({
    ...writeMeta,
    operationId: 'deleteWebhook',
    path: 'developer_api_webhooks/{id}/delete',
    summary: 'Delete the endpoint; nothing more is sent, and its delivery history stays readable',
    target: 'webhook',
    command: deleteWebhook,
    input: ({ params }) => ({ id: idFrom('webhook', params.id) }),
  }),
];
