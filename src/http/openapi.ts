import { type TSchema, Type } from 'typebox';
import { assert } from '../kernel/assert.ts';
import { apiVersion, apiVersions, successStatus } from '../kernel/envelope.ts';
import { apiErrorCodes, errorCatalogue } from '../kernel/errors.ts';
import { type EventType, payloadSchema } from '../kernel/event.ts';
import { idPattern } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { scopesNeeded } from '../kernel/permissions.ts';
import { type ApiWriteRoute, isStream, type Route, tags } from '../kernel/route.ts';
import { ExpandQuery } from '../kernel/schema.ts';
import { LedgerEntrySchema } from '../resources/ledger/views.ts';
import { errorExample, type OperationExample, readExamples } from './openapi-examples.ts';
import { headerComponents, headersOfStatus, headersOfSuccess } from './openapi-headers.ts';
import { parameterSchema, SchemaComponents } from './openapi-schemas.ts';

type Json = Record<string, unknown>;

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });
const json = (schema: Json, more: Json = {}): Json => ({ 'application/json': { schema, ...more } });
const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example });

const introduction = [
  'Every body carries `object`, `sandbox`, `requestId` and `status`. Amounts are integers in minor units of their currency.',
  'Every `POST` needs an `Idempotency-Key`: the same key with the same request returns the first response again, byte for byte.',
  'Unknown fields are refused. Lists are newest first, with `limit` and `cursor`. A 4xx response means that nothing has changed.',
].join('\n\n');

const keyCharacters = `[\\x21-\\x7e]{1,${limits.idempotencyKeyLengthMax}}`;
const idempotencyKeyPattern = `^(${keyCharacters}|"${keyCharacters}")$`;

/** Error statuses of every route, then those of writes. */
const always = [400, 401, 403, 421, 429, 500, 503];
const onWrite = [409, 413, 415, 422];

const ErrorSchema = Type.Object({
  object: Type.Literal('error'),
  sandbox: Type.Literal(true),
  requestId: Type.String({ pattern: idPattern('request') }),
  status: Type.Literal('error'),
  error: Type.Object({
    code: Type.Enum([...apiErrorCodes]),
    message: Type.String(),
    param: Type.Optional(
      Type.String({ description: 'A JSON pointer into the body, or the name of a parameter or header.' }),
    ),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'More about the error. `errors` lists every invalid value of a body, each with `param` and `message`, the first one included.',
      }),
    ),
    allowedActions: Type.Optional(Type.Array(Type.String())),
    retryable: Type.Boolean(),
    docUrl: Type.String(),
  }),
});

/** The OpenAPI 3.1 document, derived from the route tables that the server runs on, so that the two cannot differ. */
export function openApiDocument(
  routes: readonly Route[],
  catalogue: readonly EventType[],
  serverUrl: string,
): Json {
  const examples = readExamples();
  const names = new Map<unknown, string>([[LedgerEntrySchema, 'LedgerEntry']]);
  for (const { response, responseName } of routes) names.set(response, responseName);
  const components = new SchemaComponents(names);
  components.refer('Error', ErrorSchema);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = `/_api/${route.path}`;
    const documented = operation(route, components, examples[route.operationId]);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: documented };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandbank',
      version: apiVersion,
      summary: 'A sandbox-only payment API. No real money moves.',
      description: introduction,
      contact: { name: 'Sandbank contributors' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths,
    webhooks: webhooks(catalogue, components),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A sandbox key: `sbk_sandbox_` and 32 characters.',
        },
      },
      parameters: parameters(),
      headers: headerComponents(),
      responses: errorResponses(),
      schemas: components.schemas,
    },
  };
}

function operation(route: Route, components: SchemaComponents, example?: OperationExample): Json {
  const isWrite = route.method === 'POST';
  const isOnRecord = route.path.includes('{') || ('namesRecord' in route && route.namesRecord === true);
  const statuses = [...always, ...(isOnRecord ? [404] : []), ...(isWrite ? onWrite : [])].sort();
  const success = successStatus[isWrite ? route.command.success : 'ok'];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: titleOf(route.operationId),
    description: `${route.summary}. ${needs(route)}`,
    'x-scope': route.scope,
    parameters: [
      ...pathParameters(route),
      ...(route.method === 'GET'
        ? queryParameters(route.query)
        : [
            ref('parameters', 'IdempotencyKey'),
            ...(route.expandsEntries ? queryParameters(ExpandQuery) : []),
          ]),
      ref('parameters', 'Organization'),
      ref('parameters', 'Version'),
    ],
    ...(isWrite ? requestBody(route, components, example?.request) : {}),
    responses: {
      [success]: {
        description: success === successStatus.created ? 'Created.' : 'OK.',
        headers: headersOfSuccess(route, success),
        content: contentOf(route, components, example?.response),
      },
      ...Object.fromEntries(statuses.map((status) => [String(status), ref('responses', `Status${status}`)])),
    },
  };
}

/** The title in the navigation of the API reference: `listFxRates` is "List FX rates". */
function titleOf(operationId: string): string {
  const title = operationId.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(' fx ', ' FX ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** The webhook requests: an entry for each event type. All events of a resource share one schema. */
function webhooks(catalogue: readonly EventType[], components: SchemaComponents): Record<string, Json> {
  const seconds = limits.webhookTimeoutMs / 1_000;
  const headers = ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'];
  const responses = {
    '2XX': {
      description: `Received. After any other response, or none within ${seconds} seconds, the delivery is retried.`,
    },
    '410': { description: 'The receiver is gone; Sandbank disables the endpoint.' },
  };
  const entry = ({ type, resource, description, schema: data, payload }: EventType): Json => {
    const dataName = components.nameOf(data);
    assert(dataName, `no route returns the data of ${type}`);
    const types = catalogue.filter((other) => other.resource === resource).map((other) => other.type);
    const event = components.refer(`${dataName}Event`, payloadSchema(types, data));
    const schema = { allOf: [event, { properties: { type: { const: type } } }] };
    return {
      operationId: `receive${pascalCase(type)}`,
      tags: ['Webhooks'],
      summary: type,
      description,
      security: [],
      parameters: headers.map((header) => ref('parameters', header)),
      requestBody: { required: true, content: { 'application/json': { schema, example: payload } } },
      responses,
    };
  };
  return Object.fromEntries(catalogue.map((event) => [event.type, { post: entry(event) }]));
}

function contentOf(route: Route, components: SchemaComponents, example: unknown): Json {
  const item = components.refer(route.responseName, route.response);
  // OpenAPI 3.1 cannot describe the items of a stream.
  if (isStream(route))
    return {
      'text/event-stream': {
        schema: { type: 'string' },
        'x-item-schema': item,
      },
    };
  const schema = json(item, exampleOf(example));
  const other = route.method === 'GET' ? route.alternateContentType : undefined;
  return other === undefined ? schema : { ...schema, [other]: { schema: { type: 'string' } } };
}

function needs({ scope }: Route): string {
  const names = scopesNeeded(scope).map((name) => `\`${name}\``);
  if (names.length === 0) return 'Any valid key may call this.';
  return names.length === 1 ? `Needs the scope ${names[0]}.` : `Needs the scopes ${names.join(' and ')}.`;
}

function requestBody(
  { body, bodyName, isBodyOptional }: ApiWriteRoute,
  components: SchemaComponents,
  example: unknown,
): Json {
  if (!body || bodyName === undefined) return {};
  return {
    requestBody: {
      required: isBodyOptional !== true,
      content: json(components.refer(bodyName, body), exampleOf(example)),
    },
  };
}

function pascalCase(text: string): string {
  return text.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function pathParameters({ path }: Route): Json[] {
  return [...path.matchAll(/(\w+?)s?\/\{(\w+)\}/g)].map(([, collection = '', name = '']) => {
    const record = collection.replace('developer_api_', '').replaceAll('_', ' ');
    const description =
      name === 'date' ? `The day of the ${record}: 2026-11-15.` : `The id of the ${record}.`;
    return { name, in: 'path', required: true, description, schema: { type: 'string' } };
  });
}

function queryParameters(query: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = parameterSchema(property);
    return { name, in: 'query', required: required.includes(name), description, schema };
  });
}

function parameters(): Json {
  return {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description:
        'Unique for each write. The same key with the same request returns the same response again. Visible ASCII characters, bare or in double quotes.',
      schema: { type: 'string', pattern: idempotencyKeyPattern },
    },
    Organization: {
      name: 'Sandbank-Organization',
      in: 'header',
      required: false,
      description: "Must be the key's own organization when sent.",
      schema: { type: 'string', pattern: idPattern('organization') },
    },
    Version: {
      name: 'Api-Version',
      in: 'header',
      required: false,
      description: 'The API version that the client was written for. An unknown version is refused.',
      schema: { type: 'string', enum: apiVersions },
    },
    WebhookId: {
      name: 'webhook-id',
      in: 'header',
      required: true,
      description: 'The id of the event. A repeated delivery has the same id.',
      schema: { type: 'string', pattern: idPattern('event') },
    },
    WebhookTimestamp: {
      name: 'webhook-timestamp',
      in: 'header',
      required: true,
      description:
        'When this attempt was sent, in seconds since 1970. Reject requests that are older than five minutes.',
      schema: { type: 'string', pattern: '^\\d+$' },
    },
    WebhookSignature: {
      name: 'webhook-signature',
      in: 'header',
      required: true,
      description:
        'As in Standard Webhooks: `v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64, keyed with the bytes of the secret. While two secrets are valid there are two signatures, separated by a space; one match is enough.',
      schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$' },
    },
  };
}

function errorResponses(): Json {
  return Object.fromEntries(
    [...always, 404, ...onWrite].sort().map((status) => {
      const codes = apiErrorCodes.filter((code) => errorCatalogue[code].status === status);
      return [
        `Status${status}`,
        {
          description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].description}`).join('\n\n'),
          headers: headersOfStatus(status),
          content: json(ref('schemas', 'Error'), {
            examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
          }),
        },
      ];
    }),
  );
}
