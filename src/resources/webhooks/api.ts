import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { limits } from '../../kernel/limits.ts';
import { shownInstant } from '../../kernel/list.ts';
import { requestableActions } from '../../kernel/machine.ts';
import { retryProfileNames } from '../../kernel/retry.ts';
import { applicationListHandler, applicationSubresourceHandler, type Route } from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time, text } from '../../kernel/schema.ts';
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
import { findHealth } from './store.ts';
import { disabledReasons, type WebhookRow, webhooksTable } from './table.ts';

const Secret = Type.String({
  pattern: webhookSecretPattern,
  description: 'Your own secret: `whsec_` and 24 to 64 bytes in Base64. Without it Sandbank creates one.',
});

const WebhookSchema = resource('webhook', webhookMachine.states, {
  id: id('webhook'),
  applicationId: id('application'),
  url: Type.String(),
  description: nullable(Type.String()),
  eventTypes: Type.Array(Type.String()),
  retryProfile: Type.Enum([...retryProfileNames]),
  maxConcurrency: Type.Integer(),
  secretHint: Type.String({ description: 'The last four characters of the secret that signs.' }),
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
const writing = { ...meta, method: 'POST', scope: 'webhooks:write' } as const;
const reading = { ...meta, method: 'GET', scope: 'webhooks:read' } as const;

/** What a body says of an endpoint; what it leaves out is left out here as well. */
function fieldsOf(body: {
  readonly url?: string;
  readonly description?: string | null;
  readonly eventTypes?: readonly string[];
  readonly retryProfile?: string;
  readonly maxConcurrency?: number;
}): Partial<WebhookFields> {
  const { url, description, eventTypes, retryProfile, maxConcurrency } = body;
  return {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined ? {} : { eventTypes }),
    ...(retryProfile === undefined ? {} : { retryProfile: retryProfile as WebhookFields['retryProfile'] }),
    ...(maxConcurrency === undefined ? {} : { concurrencyMax: maxConcurrency }),
  };
}

/** The filters that an endpoint may have: everything, all of a resource, or one type. */
export function eventFilters(types: readonly string[]): readonly string[] {
  const wildcards = new Set(types.map((type) => `${type.split('.')[0]}.*`));
  return ['*', ...wildcards, ...types];
}

export function webhookRoutes(types: readonly string[]): readonly Route[] {
  const settings = {
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
      description: 'How many requests the endpoint gets at once. With 1, first attempts come in order.',
    }),
  };
  const Url = text(limits.webhookUrlLengthMax);
  const CreateBody = strict({
    url: Url,
    ...optional(settings),
    secret: Type.Optional(Secret),
  });
  const UpdateBody = strict({ url: Type.Optional(Url), ...optional(settings) }, { minProperties: 1 });
  const RotateBody = strict({
    secret: Type.Optional(Secret),
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.webhookOverlapSecondsMax,
        default: limits.webhookOverlapSecondsDefault,
        description: 'How long the secret of before signs as well.',
      }),
    ),
  });
  return [
    {
      ...writing,
      operationId: 'createWebhook',
      path: 'developer_api_webhooks',
      summary: 'Register an endpoint; the answer shows its secret, once',
      response: SecretShown,
      responseName: 'WebhookWithSecret',
      body: CreateBody,
      bodyName: 'WebhookCreate',
      target: null,
      command: createWebhook,
      input: ({ principal, body }) => {
        const asked = body as Static<typeof CreateBody>;
        const { eventTypes, retryProfile, maxConcurrency } = principal.settings.webhookDefaults;
        const defaults = { description: null, eventTypes, retryProfile, concurrencyMax: maxConcurrency };
        return { fields: { ...defaults, ...fieldsOf(asked) }, secret: asked.secret };
      },
    },
    {
      ...reading,
      operationId: 'listWebhooks',
      path: 'developer_api_webhooks',
      summary: 'List the webhook endpoints of the application, newest first',
      query: listQuery(webhookMachine.states),
      response: list(WebhookSchema),
      responseName: 'WebhookList',
      read: applicationListHandler('webhook', webhooksTable, ['status'], presentWebhook),
    },
    {
      ...reading,
      operationId: 'retrieveWebhook',
      path: 'developer_api_webhooks/{id}',
      summary: 'Retrieve an endpoint and how it has been doing; never its secret',
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
    {
      ...writing,
      operationId: 'updateWebhook',
      path: 'developer_api_webhooks/{id}/update',
      summary: 'Change the URL, the description, the event types, the retry profile or the concurrency',
      body: UpdateBody,
      bodyName: 'WebhookUpdate',
      target: 'webhook',
      command: updateWebhook,
      input: ({ params, body }) => ({
        id: params.id ?? '',
        fields: fieldsOf(body as Static<typeof UpdateBody>),
      }),
    },
    {
      ...writing,
      operationId: 'rotateWebhookSecret',
      path: 'developer_api_webhooks/{id}/rotate_secret',
      summary: 'Make a new secret; the old one signs beside it for a while',
      response: SecretShown,
      responseName: 'WebhookWithSecret',
      body: RotateBody,
      isBodyOptional: true,
      bodyName: 'WebhookRotateSecret',
      target: 'webhook',
      command: rotateSecret,
      input: ({ params, body }) => {
        const { secret, overlapSeconds } = body as Static<typeof RotateBody>;
        return {
          id: params.id ?? '',
          secret,
          overlapSeconds: overlapSeconds ?? limits.webhookOverlapSecondsDefault,
        };
      },
    },
    {
      ...writing,
      operationId: 'disableWebhook',
      path: 'developer_api_webhooks/{id}/disable',
      summary: 'Stop sending; events wait until the endpoint is enabled again',
      target: 'webhook',
      command: disableWebhook,
      input: ({ params }) => ({ id: params.id ?? '' }),
    },
    {
      ...writing,
      operationId: 'enableWebhook',
      path: 'developer_api_webhooks/{id}/enable',
      summary: 'Send again, beginning with what has waited',
      target: 'webhook',
      command: enableWebhook,
      input: ({ params }) => ({ id: params.id ?? '' }),
    },
  ];
}

function optional<P extends Record<string, Parameters<typeof Type.Optional>[0]>>(properties: P) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as { [K in keyof P]: ReturnType<typeof Type.Optional<P[K]>> };
}
