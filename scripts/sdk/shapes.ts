import { type ApiDocument, pascal, type Schema } from './document.ts';

/** Enums that get a type name, by their location in the document; the same enum elsewhere gets the name too. */
const named: readonly (readonly [name: string, at: string])[] = [
  ['ErrorCode', 'Error.properties.error.properties.code'],
  ['Scope', 'Capabilities.properties.scopes.items'],
  ['EventType', 'EventCreate.properties.type'],
  ['EventFilter', 'WebhookCreate.properties.eventTypes.items'],
  ['PaymentScenario', 'PaymentCreate.properties.scenario.anyOf.0'],
  ['DeclineCode', 'Capabilities.properties.declineCodes.items.properties.code'],
  ['TransferFailureCode', 'Capabilities.properties.transferFailureCodes.items.properties.code'],
  ['TransferReturnCode', 'Capabilities.properties.returnCodes.items.properties.code'],
  ['TestCardNumber', 'PaymentCreate.properties.paymentMethod.properties.number'],
  ['PaymentAction', 'Payment.properties.allowedActions.items'],
  ['RefundAction', 'Refund.properties.allowedActions.items'],
  ['DisputeAction', 'Dispute.properties.allowedActions.items'],
  ['TransferAction', 'Transfer.properties.allowedActions.items'],
  ['CustomerAction', 'Customer.properties.allowedActions.items'],
  ['WebhookAction', 'Webhook.properties.allowedActions.items'],
];

/** Fields with a more precise type than the document declares. */
const refined: Readonly<Record<string, string>> = {
  'Delivery.eventType': 'EventType',
  'DeliveryDetail.eventType': 'EventType',
  'Webhook.eventTypes': 'EventFilter[]',
  'WebhookDetail.eventTypes': 'EventFilter[]',
  'WebhookWithSecret.eventTypes': 'EventFilter[]',
};

/** List items without a component are named after their `object`, except these. */
const itemNames: Readonly<Record<string, string>> = {
  PaymentHistory: 'PaymentStateChange',
  TransferHistory: 'TransferStateChange',
  LoggedRequestList: 'LoggedRequestSummary',
};

/** Components whose name would shadow a global of the language. */
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorAnswer' };

const lineWidth = 100;

/** Converts schemas into TypeScript. Refers to named schemas and enums, so that nothing is declared twice. */
export class Shapes {
  readonly #schemas: Map<string, Schema>;
  readonly #lists = new Map<string, string>();
  readonly #inputs: ReadonlySet<string>;

  constructor({ paths, components }: ApiDocument, more: typeof named = []) {
    this.#schemas = withEventFields(withItems(components.schemas));
    const bodies = Object.values(paths).flatMap((verbs) =>
      Object.values(verbs).flatMap(({ requestBody }) => refsIn(requestBody)),
    );
    this.#inputs = this.#reached(bodies);
    for (const [name, at] of [...named, ...more]) this.#name(name, at);
    for (const [name, list] of this.#statuses()) this.#lists.set(list, `${name}Status`);
  }

  declarations(): string[] {
    const lists = [...this.#lists].map(([list, name]) => {
      const values = JSON.parse(list) as unknown[];
      return `export type ${name} = ${union(values.map(literal), '')};\n`;
    });
    const shapes = [...this.#schemas].map(([name, schema]) => {
      const isInput = this.#inputs.has(name);
      const text = this.type(schema, { isInput, indent: '', at: name });
      const isPlain = schema.type === 'object' && text.startsWith('{\n') && !/\n\} [|&]/.test(text);
      return isPlain
        ? `export interface ${nameOf(name)} ${text}\n`
        : `export type ${nameOf(name)} = ${text};\n`;
    });
    return [...lists, ...shapes];
  }

  type(schema: Schema, place: { isInput: boolean; indent: string; at?: string }): string {
    const { isInput, indent, at = '' } = place;
    if (refined[at] !== undefined) return refined[at];
    if (schema.$ref !== undefined) return nameOf(schema.$ref.split('/').at(-1) ?? '');
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.enum)
      return this.#lists.get(JSON.stringify(schema.enum)) ?? union(schema.enum.map(literal), indent);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices?.every(isDemand)) return this.#demands(schema, choices, place);
    if (choices) {
      const parts = choices.map((choice) => this.type(choice, { isInput, indent }));
      // A plain `string` would absorb the literals of the union, and an editor would no longer suggest them.
      const hasLiterals = parts.some(
        (part) => part.startsWith("'") || [...this.#lists.values()].includes(part),
      );
      return union(
        [...new Set(parts)].map((part) => (part === 'string' && hasLiterals ? '(string & {})' : part)),
        indent,
      );
    }
    if (schema.allOf) return schema.allOf.map((part) => this.type(part, { isInput, indent })).join(' & ');
    if (schema.type === 'array') return this.#array(schema, isInput, indent);
    if (schema.type === 'object') return this.#object(schema, place);
    if (schema.type === 'string')
      return isInput && schema.format === 'date-time' ? 'string | Date' : 'string';
    if (schema.type === 'integer' || schema.type === 'number') return 'number';
    if (schema.type === 'boolean' || schema.type === 'null') return schema.type;
    if (schema.type === undefined) return 'unknown';
    throw new Error(`scripts/sdk/shapes.ts cannot turn this schema into a type: ${JSON.stringify(schema)}`);
  }

  /** The properties of an object type; also used for queries, which are not schemas in the document. */
  properties(
    entries: readonly (readonly [name: string, schema: Schema, isRequired: boolean])[],
    { isInput, indent, at = '' }: { isInput: boolean; indent: string; at?: string },
  ): string {
    const inside = `${indent}  `;
    const lines = entries.map(([name, schema, isRequired]) => {
      const type = this.type(schema, { isInput, indent: inside, at: `${at}.${name}` });
      const mark = isRequired ? '' : '?';
      const orNothing = isInput && !isRequired && type !== 'undefined' ? ' | undefined' : '';
      const key = /^\d/.test(name) ? `'${name}'` : name;
      return `${comment(descriptionOf(schema), inside)}${inside}${key}${mark}: ${type}${orNothing};\n`;
    });
    return `{\n${lines.join('')}${indent}}`;
  }

  #object(schema: Schema, place: { isInput: boolean; indent: string; at?: string }): string {
    const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
    const entries = Object.entries(properties);
    if (entries.length > 0)
      return this.properties(
        entries.map(([name, one]) => [name, one, required.includes(name)] as const),
        place,
      );
    const others =
      typeof additionalProperties === 'object'
        ? additionalProperties
        : Object.values(patternProperties ?? {})[0];
    if (others) return `Record<string, ${this.type(others, { ...place, at: '' })}>`;
    return additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>';
  }

  #array({ items = {} }: Schema, isInput: boolean, indent: string): string {
    const item = this.type(items, { isInput, indent });
    const isSimple =
      /^[\w.]+$/.test(item) || (item.startsWith('{') && !new RegExp(`\\n${indent}\\} [|&]`).test(item));
    const list = isSimple ? `${item}[]` : `(${item})[]`;
    return isInput ? `readonly ${list}` : list;
  }

  /** An object that requires one of several sets of fields: the shared fields, and a union of the required sets. */
  #demands(
    schema: Schema,
    choices: readonly Schema[],
    place: { isInput: boolean; indent: string; at?: string },
  ): string {
    const { properties = {}, required = [] } = schema;
    const demanded = new Set(
      choices.flatMap((choice) => choice.required ?? []).filter((name) => !required.includes(name)),
    );
    const shared = Object.entries(properties).filter(([name]) => !demanded.has(name));
    const shapes = choices.map((choice) =>
      this.properties(
        [...demanded].map((name) => {
          const isMine = choice.required?.includes(name) === true;
          // With `oneOf`, the fields of the other sets must be absent.
          const shown: Schema = isMine || !schema.oneOf ? (properties[name] ?? {}) : { enum: [] };
          return [name, shown, isMine] as const;
        }),
        place,
      ),
    );
    const union = shapes.join(' | ');
    if (shared.length === 0) return union;
    const entries = shared.map(([name, one]) => [name, one, required.includes(name)] as const);
    return `${this.properties(entries, place)} & (${union})`;
  }

  #name(name: string, at: string): void {
    const [component = '', ...steps] = at.split('.');
    const found = steps.reduce<unknown>(
      (part, step) => (part as Record<string, unknown> | undefined)?.[step],
      this.#schemas.get(component),
    ) as Schema | undefined;
    if (!found?.enum)
      throw new Error(
        `The enum of ${name} is no longer at ${at} in the document. Correct \`named\` in scripts/sdk/shapes.ts.`,
      );
    this.#lists.set(JSON.stringify(found.enum), name);
  }

  /** The status enum of each record type. An enum that two record types share is not named after either. */
  #statuses(): [name: string, list: string][] {
    const found = [...this.#schemas].flatMap(([name, { properties }]): [string, string][] => {
      const values = properties?.status?.enum ?? [];
      const isRecord = pascal(String(properties?.object?.const ?? '')) === name;
      return isRecord && values.length > 1 ? [[name, JSON.stringify(values)]] : [];
    });
    return found.filter(([name, list]) => found.every(([other, same]) => other === name || same !== list));
  }

  #reached(from: readonly string[]): Set<string> {
    const reached = new Set<string>();
    const waiting = [...from];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (reached.has(name)) continue;
      reached.add(name);
      waiting.push(...refsIn(this.#schemas.get(name)));
    }
    return reached;
  }
}

export function nameOf(component: string): string {
  return renamed[component] ?? component;
}

export function comment(text: string, indent: string): string {
  if (text === '') return '';
  return `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`;
}

function descriptionOf({ description = '', default: given }: Schema): string {
  const fallback = given === undefined ? '' : `Default: \`${JSON.stringify(given)}\`.`;
  return [description, fallback].filter((part) => part !== '').join(' ');
}

/** Extracts inline list items into named schemas. */
function withItems(schemas: Readonly<Record<string, Schema>>): Map<string, Schema> {
  const all = new Map<string, Schema>();
  for (const [name, schema] of Object.entries(schemas)) {
    const item = schema.properties?.data?.items;
    const kind = item?.properties?.object?.const;
    if (!item || typeof kind !== 'string') {
      all.set(name, schema);
      continue;
    }
    const itemName = itemNames[name] ?? pascal(kind);
    const known = schemas[itemName] ?? all.get(itemName);
    if (known && JSON.stringify(known) !== JSON.stringify(item))
      throw new Error(
        `The items of ${name} would be named ${itemName}, which is already another schema. Name them in \`itemNames\` of scripts/sdk/shapes.ts.`,
      );
    if (!known) all.set(itemName, item);
    const data = { ...schema.properties?.data, items: { $ref: `#/components/schemas/${itemName}` } };
    all.set(name, { ...schema, properties: { ...schema.properties, data } });
  }
  return all;
}

/**
 * The document describes the `data` of each event `type` in the webhooks, and not in the responses. The fields that all events share
 * are declared here, and the generator combines them with each kind of event.
 */
function withEventFields(schemas: Map<string, Schema>): Map<string, Schema> {
  const event = schemas.get('Event');
  const { type, data, ...shared } = event?.properties ?? {};
  if (!event || !type || !data) throw new Error('The schema Event of the document has no `type` and `data`.');
  return new Map(
    [...schemas].map(([name, schema]) =>
      name === 'Event' ? ['EventFields', { ...schema, properties: shared }] : [name, schema],
    ),
  );
}

function isDemand(schema: Schema): boolean {
  return Object.keys(schema).join() === 'required';
}

function refsIn(part: unknown): string[] {
  const found = (JSON.stringify(part) ?? '').matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  return [...found].map(([, name = '']) => name);
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}

function union(parts: readonly string[], indent: string): string {
  if (parts.length === 0) return 'undefined';
  const line = parts.join(' | ');
  if (parts.length === 1 || line.length + indent.length <= lineWidth || line.includes('{\n')) return line;
  return parts.map((part) => `\n${indent}  | ${part}`).join('');
}
