/** The subset of JSON Schema that operation inputs use. */
export interface InputSchema {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, InputSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly InputSchema[];
  readonly additionalProperties?: unknown;
  readonly [key: string]: unknown;
}

export interface FlatSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, InputSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  readonly [key: string]: unknown;
}

/**
 * One object schema for all parameters of an operation: its path parameters and the fields of its body or query. Alternatives at
 * the top level are merged into one object, because many assistants reject a tool whose input is a choice; the server checks
 * which fields may be combined.
 */
export function flatSchema(
  names: Readonly<Record<string, string>>,
  schema: InputSchema | undefined,
): FlatSchema {
  const choices = choicesOf(schema);
  const fields = new Map<string, InputSchema[]>();
  for (const { properties = {} } of choices)
    for (const [name, field] of Object.entries(properties))
      if (!isNever(field)) fields.set(name, [...(fields.get(name) ?? []), field]);
  const required = [...fields.keys()].filter((name) =>
    choices.every((choice) => choice.required?.includes(name)),
  );
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        Object.entries(names).map(([name, description]) => [name, { type: 'string', description }]),
      ),
      ...Object.fromEntries([...fields].map(([name, found]) => [name, united(found)])),
    },
    required: [...Object.keys(names), ...required],
    additionalProperties: false,
  };
}

/** The alternatives. For an object with properties, `anyOf` only says which of them may be combined. */
function choicesOf(schema: InputSchema | undefined): readonly InputSchema[] {
  if (schema === undefined) return [];
  return schema.properties === undefined ? (schema.anyOf ?? []) : [schema];
}

/** A field that an alternative forbids. */
function isNever({ not }: InputSchema): boolean {
  return not !== undefined;
}

/** The union of the schemas: all enum values if they are listed, else `anyOf`. */
function united(found: readonly InputSchema[]): InputSchema {
  const [first = {}] = found;
  const distinct = [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
  if (distinct.length === 1) return first;
  const values = distinct.map((one) => one.enum ?? (one.const === undefined ? undefined : [one.const]));
  const description = distinct.find((one) => one.description !== undefined)?.description;
  const described = description === undefined ? {} : { description };
  if (values.every((one) => one !== undefined)) return { ...described, enum: [...new Set(values.flat())] };
  return { ...described, anyOf: distinct };
}
