import { Type } from 'typebox';
import { retryProfileNames } from '../../kernel/application-settings.ts';
import { eventFilters } from '../../kernel/event.ts';
import { limits } from '../../kernel/limits.ts';
import { component, nullable, strict, text } from '../../kernel/schema.ts';
import { defaultInbox, type InboxBehavior, type InboxResponse, inboxStatuses } from './table.ts';

/** The settings of an endpoint that requests to create and to update have. */
export function settingsSchema(types: readonly string[]) {
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

/** Names are tokens of RFC 9110; values are visible ASCII, with spaces inside. */
export const Headers = Type.Unsafe<Record<string, string>>({
  ...component('WebhookHeaders'),
  type: 'object',
  additionalProperties: {
    type: 'string',
    maxLength: limits.webhookHeaderValueLengthMax,
    pattern: '^[!-~]([ -~]*[!-~])?$',
  },
  maxProperties: limits.webhookHeadersMax,
  propertyNames: { maxLength: limits.webhookHeaderNameLengthMax, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
  description: `Headers that are sent with every attempt, such as an authorization. They replace the previous ones; \`{}\` removes all. Up to ${limits.webhookHeadersMax} names of ${limits.webhookHeaderNameLengthMax} characters with values of ${limits.webhookHeaderValueLengthMax} visible ASCII characters.`,
});

const responseStatus = Type.Enum([...inboxStatuses], { description: 'The HTTP status of the response.' });
const delayMs = Type.Integer({
  minimum: 0,
  maximum: limits.inboxDelayMsMax,
  description: 'How long the inbox waits before it responds.',
});

const InboxTimeout = strict(
  { type: Type.Literal('timeout') },
  {
    ...component('InboxTimeout'),
    description: 'The inbox never responds, so the delivery attempt times out.',
  },
);

/** The behavior of an inbox in responses. */
export const Inbox = [
  strict(
    { type: Type.Literal('respond'), responseStatus, delayMs },
    { ...component('InboxRespond'), description: 'The inbox responds with this status.' },
  ),
  InboxTimeout,
] as const;

/** The behavior of an inbox in requests. */
export const InboxInput = Type.Union(
  [
    strict(
      {
        type: Type.Literal('respond'),
        responseStatus: Type.Optional(responseStatus),
        delayMs: Type.Optional(delayMs),
      },
      {
        ...component('InboxRespondInput'),
        description: 'The inbox responds with this status, 200 by default.',
      },
    ),
    InboxTimeout,
  ],
  { description: 'How the inbox responds to deliveries.' },
);

/** Fills in the defaults of a behavior. */
export function inboxOf(input: { readonly type: 'timeout' } | Partial<InboxResponse>): InboxBehavior {
  return input.type === 'timeout' ? { type: 'timeout' } : { ...defaultInbox, ...input, type: 'respond' };
}

function optional<P extends Record<string, Parameters<typeof Type.Optional>[0]>>(properties: P) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as { [K in keyof P]: ReturnType<typeof Type.Optional<P[K]>> };
}
