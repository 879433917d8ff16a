import { type Static, Type } from 'typebox';
import { retryProfileNames } from '../kernel/application-settings.ts';
import { eventFilters } from '../kernel/event.ts';
import { limits } from '../kernel/limits.ts';
import { roles, scopes } from '../kernel/permissions.ts';
import { PersonEmail, strict, text } from '../kernel/schema.ts';
import { providerNames } from '../provider/index.ts';
import { apiKeyPattern } from '../resources/api-keys/table.ts';
import { settingsSchema } from '../resources/applications/api.ts';
import { eventCatalogue } from '../resources/index.ts';
import { webhookSecretPattern } from '../resources/webhooks/machine.ts';

const schemaUrlLengthMax = 2_000;
const filters = eventFilters(eventCatalogue.map(({ type }) => type));

const name = (description: string) => Type.String({ ...text(limits.nameLengthMax), description });

const User = strict({
  email: PersonEmail,
  password: Type.String({
    minLength: limits.passwordLengthMin,
    maxLength: limits.passwordLengthMax,
    description: 'Initial password. It is set when the account is created and never changed afterwards.',
  }),
  role: Type.Enum([...roles], {
    description: 'Role in the organization. Each role includes the permissions of the roles before it.',
  }),
  takeOver: Type.Optional(
    Type.Boolean({
      description:
        'Take over an account that someone registered with this address: it gets this password, and its sessions and second factor end.',
      default: false,
    }),
  ),
});

const Webhook = strict({
  url: Type.String({
    ...text(limits.webhookUrlLengthMax),
    description: 'HTTP or HTTPS address that receives the events.',
    examples: ['http://127.0.0.1:3000/webhooks'],
  }),
  secret: Type.Optional(
    Type.String({
      pattern: webhookSecretPattern,
      description:
        'Signing secret: `whsec_` and Base64. Without one the server generates a secret and prints it once.',
    }),
  ),
  description: Type.Optional(
    Type.String({
      ...text(limits.descriptionLengthMax),
      description: 'Label of the endpoint in the console.',
    }),
  ),
  eventTypes: Type.Optional(
    Type.Array(Type.Enum([...filters]), {
      minItems: 1,
      maxItems: limits.webhookEventTypesMax,
      uniqueItems: true,
      description:
        'Events to send: `*` for all, all events of a resource such as `payment.*`, or single types.',
      default: ['*'],
    }),
  ),
  retryProfile: Type.Optional(
    Type.Enum([...retryProfileNames], {
      description: 'How failed deliveries are retried.',
      default: 'standard',
    }),
  ),
  maxConcurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.webhookConcurrencyMax,
      description: 'Concurrent requests to the endpoint. With 1, first attempts arrive in order.',
      default: limits.webhookConcurrencyDefault,
    }),
  ),
});

const ApiKey = strict({
  name: name('Label of the key in the console and in the audit trail.'),
  key: Type.String({
    pattern: apiKeyPattern.source,
    description:
      'The API key itself: `sbk_sandbox_` and 32 letters or digits. The server stores only a hash of it.',
  }),
  scopes: Type.Array(Type.Enum([...scopes]), {
    uniqueItems: true,
    description: 'Permissions of the key. A write scope does not include the read scope.',
  }),
  expiresAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Time after which the key is rejected, in RFC 3339 format. Without it the key does not expire.',
      examples: ['2030-01-01T00:00:00Z'],
    }),
  ),
  allowedCidrs: Type.Optional(
    Type.Array(text(50), {
      maxItems: 50,
      description: 'Networks that may use the key, such as 10.0.0.0/8. Empty allows all.',
      default: [],
    }),
  ),
  mayReset: Type.Optional(
    Type.Boolean({ description: 'Whether the key may reset the organization.', default: false }),
  ),
  revoked: Type.Optional(Type.Boolean({ description: 'True revokes the key permanently.', default: false })),
});

const Application = strict({
  name: name(
    'Name of the application, unique in the organization. A changed name declares another application.',
  ),
  ...settingsSchema(providerNames, filters),
  webhooks: Type.Optional(
    Type.Array(Webhook, { maxItems: 100, description: 'Webhook endpoints, identified by their URL.' }),
  ),
  apiKeys: Type.Optional(
    Type.Array(ApiKey, { maxItems: 1_000, description: 'API keys of the application.' }),
  ),
});

/**
 * A seed file declares organizations with their users, applications, API keys and webhooks. Every node applies it at every start: ids
 * are derived from names and keys, so that a second declaration has no effect.
 */
export const SeedSchema = strict({
  $schema: Type.Optional(
    Type.String({
      maxLength: schemaUrlLengthMax,
      description: 'Path or URL of this JSON Schema, for editors. The server ignores it.',
    }),
  ),
  organizations: Type.Array(
    strict({
      name: name(
        'Name of the organization, unique on the server. A changed name declares another organization.',
      ),
      users: Type.Optional(
        Type.Array(User, { maxItems: 1_000, description: 'People who can sign in to the console.' }),
      ),
      applications: Type.Optional(
        Type.Array(Application, { maxItems: 1_000, description: 'Applications of the organization.' }),
      ),
    }),
    { maxItems: 1_000, description: 'Organizations to declare. Each is an isolated tenant.' },
  ),
});

export type Seed = Static<typeof SeedSchema>;

/**
 * The document that editors validate and complete seed files with. It is the schema that the server checks seeds with. Draft-07
 * is the newest draft that all common editors support.
 */
export const seedSchemaDocument: object = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Sandbank seed file',
  description:
    'Organizations, applications, API keys, webhooks and console users that a server declares at startup.',
  ...SeedSchema,
};
