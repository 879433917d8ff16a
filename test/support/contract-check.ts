import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/http/openapi.ts';
import { type ErrorCode, errorCatalogue, isErrorCode } from '../../src/kernel/errors.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';

/** A request and its response, as the server sees them. */
export interface Exchange {
  readonly operationId: string;
  /** Console requests use the same routes as API keys, and have additional errors. */
  readonly isOfConsole: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Undefined if the response has no text body. */
  readonly text: string | undefined;
  readonly request: {
    readonly headers: Readonly<Record<string, unknown>>;
    readonly query: Readonly<Record<string, unknown>>;
    readonly body: unknown;
  };
}

type Schema = Readonly<Record<string, unknown>>;
interface Ref {
  readonly $ref?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}
interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, unknown>>;
}
interface Response {
  readonly headers: Readonly<Record<string, Header & Ref>>;
  readonly content: Readonly<Record<string, Content>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly (Parameter & Ref)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response & Ref>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** Transport headers, which the OpenAPI document does not list. */
const transport: ReadonlySet<string> = new Set([
  ...[
    'content-type',
    'content-length',
    'cache-control',
    'x-content-type-options',
    'set-cookie',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'date',
  ],
]);

/** Created at the first response, once per process: building the document takes longer than a check. */
let contract: Contract | undefined;

/** All differences between an exchange and the document. */
export function faultsOf(exchange: Exchange): readonly string[] {
  contract ??= new Contract(openApiDocument(routes, eventCatalogue, '') as unknown as Document);
  return contract.faultsOf(exchange);
}

/** Responses have times in one format. */
export const timeSent = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

class Contract {
  readonly #document: Document;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #answers: Validators;
  readonly #requests: Validators;

  constructor(document: Document) {
    this.#document = document;
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    this.#operations = new Map(operations.map((operation) => [operation.operationId, operation]));
    // Responses have exactly the documented fields.
    this.#answers = new Validators(closed(document.components), timeSent);
    this.#requests = new Validators(
      document.components,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
    );
  }

  faultsOf(exchange: Exchange): readonly string[] {
    const { operationId, status, isOfConsole } = exchange;
    const operation = this.#operations.get(operationId);
    if (!operation) return [`the document has no operation ${operationId}`];
    const response = this.#resolve(operation.responses[status]);
    if (!response) return isOfConsole && status >= 400 ? [] : [`${status} is not declared`];
    return [
      ...this.#headerFaults(exchange, response),
      ...this.#bodyFaults(exchange, response),
      ...(status < 300 ? this.#requestFaults(exchange, operation) : []),
    ];
  }

  #resolve<T extends Ref>(part: T | undefined): T | undefined {
    if (part?.$ref === undefined) return part;
    const path = part.$ref.split('/').slice(1);
    return path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], this.#document) as T;
  }

  #headerFaults({ headers, isOfConsole }: Exchange, response: Response): string[] {
    const declared = new Map(
      Object.entries(response.headers).map(([name, header]) => [name.toLowerCase(), this.#resolve(header)]),
    );
    const undeclared = Object.keys(headers).filter((name) => !declared.has(name) && !transport.has(name));
    const missing = [...declared].filter(([name, header]) => header?.required && headers[name] === undefined);
    const wrong = [...declared].flatMap(([name, header]) => {
      if (headers[name] === undefined || !header) return [];
      return this.#answers.faults(header.schema, coerced(headers[name], header.schema), `header ${name}`);
    });
    return [
      ...undeclared.map((name) => `header ${name} is not declared`),
      ...missing
        // Console responses do not request an API key.
        .filter(([name]) => !(isOfConsole && name === 'www-authenticate'))
        .map(([name]) => `header ${name} is required but missing`),
      ...wrong,
    ];
  }

  #bodyFaults({ headers, text, status, isOfConsole }: Exchange, response: Response): string[] {
    const type = String(headers['content-type']).split(';')[0] ?? '';
    const content = response.content[type];
    if (!content) return [`content type ${type} is not declared`];
    if (text === undefined) return [];
    if (type !== 'application/json') return this.#answers.faults(content.schema, text, 'body');
    const body = JSON.parse(text) as { requestId?: string; error?: { code?: string } };
    const code = body.error?.code ?? '';
    if (isOfConsole && isErrorCode(code) && errorCatalogue[code as ErrorCode].api !== 'public') return [];
    return [
      ...this.#answers.faults(content.schema, body, 'body'),
      ...(body.requestId === undefined ? ['body has no requestId'] : []),
      ...(status >= 400 && !(code in (content.examples ?? {}))
        ? [`${code} is not declared for ${status}`]
        : []),
    ];
  }

  /** Accepted requests must be valid according to the document. */
  #requestFaults({ request, isOfConsole }: Exchange, operation: Operation): string[] {
    const parameters = operation.parameters.flatMap((part) => this.#resolve(part) ?? []);
    const inQuery = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
    const unknown = Object.keys(request.query).filter((name) => !inQuery.has(name));
    const faults = parameters.flatMap(({ name, in: place, required, schema }) => {
      if (place === 'path') return [];
      const value = place === 'query' ? request.query[name] : request.headers[name.toLowerCase()];
      if (value !== undefined)
        return this.#requests.faults(schema, coerced(value, schema), `${place} ${name}`);
      return required && !isOfConsole
        ? [`${place} ${name} is required, but a request without it was accepted`]
        : [];
    });
    return [
      ...unknown.map((name) => `query ${name} was accepted but is not declared`),
      ...faults,
      ...this.#sentFaults(request.body, operation),
    ];
  }

  #sentFaults(body: unknown, { requestBody }: Operation): string[] {
    if (!requestBody)
      return body === undefined || Object.keys(body as object).length === 0
        ? []
        : ['a body was accepted but is not declared'];
    if (body === undefined) return requestBody.required ? ['a request without a body was accepted'] : [];
    const schema = requestBody.content['application/json']?.schema ?? {};
    return this.#requests.faults(schema, body, 'the accepted body');
  }
}

/** Validators, compiled on first use and cached by schema. */
export class Validators {
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<Schema, ValidateFunction>();

  constructor(components: unknown, dateTime: RegExp) {
    this.#ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
    this.#ajv.addKeyword('components').addFormat('date-time', dateTime);
    this.#ajv.addSchema({ $id: 'contract:', components });
  }

  faults(schema: Schema, value: unknown, what: string): string[] {
    let validate = this.#compiled.get(schema);
    if (!validate) {
      validate = this.#ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"contract:#/')) as Schema,
      );
      this.#compiled.set(schema, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 10).map(({ instancePath, message, params }) => {
      const more = 'additionalProperty' in params ? ` (${params.additionalProperty})` : '';
      return `${what}${instancePath} ${message}${more}`;
    });
  }
}

/** Rejects undeclared fields of objects, unless the schema allows them. */
export function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, closed(inner)]));
  const isOpen = copy.additionalProperties !== undefined || copy.patternProperties !== undefined;
  return copy.type === 'object' && copy.properties && !isOpen
    ? { ...copy, additionalProperties: false }
    : copy;
}

/** Headers and queries are text: converts the value of an integer schema. */
function coerced(value: unknown, { type }: Schema): unknown {
  return type === 'integer' && /^-?\d+$/.test(String(value)) ? Number(value) : value;
}
