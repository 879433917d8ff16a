/**
 * Rules for the OpenAPI document that third-party client generators and linters need, for the problems found so far. The tools
 * themselves run in test/tools.
 */
interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface OpenApiDocument {
  readonly info: { readonly contact?: object };
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Each problem in one line, with its location. */
export function problemsOf(document: OpenApiDocument): readonly string[] {
  const models = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    modelsIn(name, schema),
  );
  return [
    ...(document.info.contact ? [] : ['info.contact is missing']),
    ...models.flatMap(({ place, schema }) => [
      ...unnamedAlternatives(place, schema),
      ...(schema.default === undefined ? [] : [`${place} has a default: generated types require the field`]),
    ]),
    ...duplicateModels(models),
    ...examplesLikeSchemas(document.paths, 'paths'),
  ];
}

interface Model {
  readonly place: string;
  readonly schema: Schema;
}

/** A schema and its inline schemas, each with the name that openapi-python-client derives from its location. */
function modelsIn(place: string, schema: Schema): readonly Model[] {
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    { place, schema },
    ...Object.entries(properties).flatMap(([name, one]) => modelsIn(`${place}.${name}`, one)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one, i) => modelsIn(`${place}.type${i}`, one)),
    ...(items ? modelsIn(`${place}.item`, items) : []),
    ...(typeof additionalProperties === 'object'
      ? modelsIn(`${place}.additionalProperty`, additionalProperties)
      : []),
  ];
}

function unnamedAlternatives(place: string, { anyOf = [], oneOf = [] }: Schema): readonly string[] {
  return [...anyOf, ...oneOf]
    .filter((one) => isObject(one) || (one.items !== undefined && isObject(one.items)))
    .map(() => `${place} has an unnamed object as an alternative`);
}

function isObject({ properties, patternProperties, additionalProperties }: Schema): boolean {
  return [properties, patternProperties].some(Boolean) || typeof additionalProperties === 'object';
}

/** The generator rejects two objects with one name, and two enumerations with one name and different values. */
function duplicateModels(models: readonly Model[]): readonly string[] {
  const named = new Map<string, Model>();
  return models.flatMap((model) => {
    const { place, schema } = model;
    if (!schema.properties && !schema.enum) return [];
    const name = place.replace(/\.(\w)/g, (_all, letter: string) => letter.toUpperCase());
    const other = named.get(name);
    named.set(name, model);
    const isShared = schema.enum && JSON.stringify(schema.enum) === JSON.stringify(other?.schema.enum);
    return other && !isShared ? [`${other.place} and ${place} are both named ${name}`] : [];
  });
}

const schemaKeywords = ['enum', 'type', 'format', '$ref', 'properties', 'items'];

/** Spectral treats any object of this form as a schema with an example, also inside an example. */
function examplesLikeSchemas(value: unknown, place: string, isInExample = false): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.keys(value);
  const isLikeSchema = keys.includes('example') && keys.some((key) => schemaKeywords.includes(key));
  return [
    ...(isInExample && isLikeSchema ? [`${place} is an example with the form of a schema`] : []),
    ...Object.entries(value).flatMap(([key, one]) =>
      examplesLikeSchemas(one, `${place}.${key}`, isInExample || key === 'example'),
    ),
  ];
}
