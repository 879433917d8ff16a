import fc from 'fast-check';

/**
 * Generates valid and invalid values for a JSON Schema, from the schema alone. It supports the keywords that our schemas use and
 * throws at any other one, so that fuzzing cannot skip a rule silently.
 */
export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  /** Supported only for objects, as mutually exclusive sets of required fields. */
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const known = new Set([
  ...[
    'type',
    'enum',
    'const',
    'anyOf',
    'oneOf',
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
  ],
  ...[
    'propertyNames',
    'minProperties',
    'maxProperties',
    'items',
    'minItems',
    'maxItems',
    'uniqueItems',
    'minimum',
    'maximum',
  ],
  ...['minLength', 'maxLength', 'pattern', 'format', 'description', 'default'],
]);

/** Values to use for a property besides generated ones, by name, so that some requests pass every check. */
export type ExampleValues = Readonly<Record<string, readonly unknown[]>>;

export function jsonSchema(schema: unknown): JsonSchema {
  // TypeBox schemas have extra symbols; OpenAPI contains only the JSON.
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}

export function validValues(schema: JsonSchema, likely: ExampleValues = {}): fc.Arbitrary<unknown> {
  return generated(schema, likely).filter((value) => matchesSchema(schema, value));
}

function generated(schema: JsonSchema, likely: ExampleValues): fc.Arbitrary<unknown> {
  for (const keyword of Object.keys(schema)) {
    if (!known.has(keyword)) throw new Error(`the generator does not support the schema keyword ${keyword}`);
  }
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf && schema.type === undefined)
    return fc.oneof(...schema.anyOf.map((one) => generated(one, likely)));
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'string':
      return strings(schema);
    case 'array':
      return arrays(schema, likely);
    case 'object':
      return objects(schema, likely);
    default:
      return fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }).map(readable);
  }
}

function arrays({ items = {}, minItems, maxItems, uniqueItems }: JsonSchema, likely: ExampleValues) {
  const bounds = lengths(minItems, Math.min(maxItems ?? 10, 10));
  return uniqueItems
    ? fc.uniqueArray(generated(items, likely), bounds)
    : fc.array(generated(items, likely), bounds);
}

/** JSON that the request parser accepts: no U+0000, no imprecise number, no `__proto__`. */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : 0;
  if (Array.isArray(value)) return value.map(readable);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [storable(name), readable(one)] as const);
  return Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
}

function integers({ minimum = -(2 ** 31), maximum = 2 ** 31 }: JsonSchema): fc.Arbitrary<number> {
  return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum }));
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 300 } = schema;
  if (schema.format === 'date-time') return times;
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern)).map(storable);
  return fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: 'binary', minLength, maxLength }).map(storable) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(maxLength), '🎉'.repeat(maxLength)) },
  );
}

/** The request parser rejects U+0000, so no valid value contains it. */
function storable(text: string): string {
  return text.replaceAll('\0', '0');
}

const times = fc
  .record({
    instant: fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    }),
    zone: fc.constantFrom('Z', '+00:00', '-12:00', '+14:00', '+05:30'),
    digits: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ instant, zone, digits }) => {
    const fraction = digits === 0 ? '' : `.${'123456789'.slice(0, digits)}`;
    return `${instant.toISOString().slice(0, 19)}${fraction}${zone}`;
  });

function objects(schema: JsonSchema, likely: ExampleValues): fc.Arbitrary<unknown> {
  const value = ofAnyName(schema);
  if (value) {
    const keys = strings({ type: 'string', maxLength: 40, ...schema.propertyNames });
    return fc
      .dictionary(
        keys.filter((key) => key !== '__proto__'),
        generated(value, likely),
        { maxKeys: schema.maxProperties ?? 10, noNullPrototype: true },
      )
      .map((dictionary) => ({ ...dictionary }));
  }
  const properties = schema.properties ?? {};
  const model = Object.entries(properties).map(([name, property]) => {
    const usual = likely[name] ?? [];
    const values = generated(property, likely);
    return [name, usual.length === 0 ? values : fc.oneof(fc.constantFrom(...usual), values)] as const;
  });
  const choices = (schema.oneOf ?? [{}]).map(({ required = [] }) => required);
  const forms = choices.map((chosen) => {
    const others = choices.flat().filter((name) => !chosen.includes(name));
    return fc.record(Object.fromEntries(model.filter(([name]) => !others.includes(name))), {
      requiredKeys: [...(schema.required ?? []), ...chosen],
      noNullPrototype: true,
    });
  });
  return fc.oneof(...forms);
}

/**
 * Values that violate the schema in one place: a wrong type, a missing or extra field, a value out of bounds. The rest of the value is
 * valid, so that the validator must find this one fault.
 */
export function invalidValues(schema: JsonSchema, likely: ExampleValues = {}): fc.Arbitrary<unknown> {
  return fc
    .oneof(
      { weight: 1, arbitrary: otherTypes },
      { weight: 6, arbitrary: validValues(schema, likely).chain((value) => broken(schema, value)) },
    )
    .filter((value) => !matchesSchema(schema, value));
}

const otherTypes = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1.5, '', 'x', [], {}, [null], { x: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

function broken(schema: JsonSchema, value: unknown): fc.Arbitrary<unknown> {
  const faults: fc.Arbitrary<unknown>[] = [otherTypes];
  const { minimum, maximum, minLength = 0, maxLength } = schema;
  if (minimum !== undefined) faults.push(fc.constantFrom(minimum - 1, minimum + 0.5));
  if (maximum !== undefined) faults.push(fc.constantFrom(maximum + 1, maximum - 0.5));
  if (minLength > 0) faults.push(fc.constant('x'.repeat(minLength - 1)));
  if (maxLength !== undefined)
    faults.push(fc.constantFrom('x'.repeat(maxLength + 1), '🎉'.repeat(maxLength + 1)));
  if (schema.pattern !== undefined) faults.push(fc.string(), fc.constant(`${String(value)}\n`));
  for (const one of schema.anyOf ?? []) if (one.type !== undefined) faults.push(broken(one, value));
  if (Array.isArray(value)) {
    faults.push(fc.constant([...value, 'no such item']));
    if (schema.uniqueItems) faults.push(fc.constant([...value, ...value]));
    if (schema.maxItems !== undefined && value.length > 0)
      faults.push(fc.constant(Array(schema.maxItems + 1).fill(value[0])));
  }
  if (isObject(value)) faults.push(...brokenObjects(schema, value));
  return fc.oneof(...faults);
}

function brokenObjects(schema: JsonSchema, value: Record<string, unknown>): fc.Arbitrary<unknown>[] {
  const faults: fc.Arbitrary<unknown>[] = [
    fc
      .tuple(
        fc.constantFrom('unknown', 'Amount', 'a/b~c', ' ', 'id', 'constructor', 'toString'),
        fc.jsonValue(),
      )
      .map(([name, extra]) => ({ ...value, [name]: extra })),
  ];
  for (const name of Object.keys(value)) {
    const { [name]: _dropped, ...rest } = value;
    faults.push(fc.constant(rest));
  }
  for (const name of (schema.oneOf ?? []).flatMap(({ required = [] }) => required)) {
    faults.push(fc.constant({ ...value, [name]: 1 }));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    faults.push(broken(property, value[name]).map((fault) => ({ ...value, [name]: fault })));
  }
  if (ofAnyName(schema)) {
    const keys = fc.constantFrom('key', 'a b', 'a\nb', '\u2028', 'ключ', 'x'.repeat(41), '');
    faults.push(fc.tuple(keys, otherTypes).map(([key, fault]) => ({ ...value, [key]: fault })));
    const many = Array.from({ length: (schema.maxProperties ?? 0) + 1 }, (_, i) => [`k${i}`, 'v']);
    faults.push(fc.constant(Object.fromEntries(many)));
  }
  return faults;
}

/** Whether a value is valid. Independent of the server's validator, which is under test. */
export function matchesSchema(schema: JsonSchema, value: unknown): boolean {
  if ('const' in schema && schema.const !== value) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (schema.anyOf && !schema.anyOf.some((one) => matchesSchema(one, value))) return false;
  if (schema.oneOf && schema.oneOf.filter((one) => matchesSchema(one, value)).length !== 1) return false;
  if (schema.type !== undefined && !isOfType(schema.type, value)) return false;
  if (typeof value === 'number')
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  if (typeof value === 'string') return fitsText(schema, value);
  if (Array.isArray(value)) {
    const isCounted = value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity);
    const isUnique =
      !schema.uniqueItems || new Set(value.map((item) => JSON.stringify(item))).size === value.length;
    return isCounted && isUnique && value.every((item) => matchesSchema(schema.items ?? {}, item));
  }
  return isObject(value) ? fitsObject(schema, value) : true;
}

function fitsText(schema: JsonSchema, value: string): boolean {
  const length = [...value].length;
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity)) return false;
  if (schema.format === 'date-time')
    return !Number.isNaN(Date.parse(value)) && /^\d{4}-\d\d-\d\dT/.test(value);
  return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value);
}

function fitsObject(schema: JsonSchema, value: Record<string, unknown>): boolean {
  const names = Object.keys(value);
  if (names.length < (schema.minProperties ?? 0) || names.length > (schema.maxProperties ?? Infinity))
    return false;
  if (schema.required?.some((name) => !Object.hasOwn(value, name))) return false;
  const ofAny = ofAnyName(schema);
  return names.every((name) => {
    if (schema.propertyNames && !matchesSchema(schema.propertyNames, name)) return false;
    const properties = schema.properties ?? {};
    const property = Object.hasOwn(properties, name) ? properties[name] : ofAny;
    return property ? matchesSchema(property, value[name]) : schema.additionalProperties !== false;
  });
}

/** The schema of values with arbitrary names. */
function ofAnyName({ patternProperties = {}, additionalProperties }: JsonSchema): JsonSchema | undefined {
  const [value] = Object.values(patternProperties);
  return value ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function lengths(minLength = 0, maxLength = 10): { minLength: number; maxLength: number } {
  return { minLength, maxLength };
}
