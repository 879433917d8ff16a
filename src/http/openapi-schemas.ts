import type { TSchema } from 'typebox';
import { assert } from '../kernel/assert.ts';
import { componentNameOf } from '../kernel/schema.ts';

type Json = Record<string, unknown>;

/** The named schemas of the document. A schema that contains another named schema has a reference to it. */
export class SchemaComponents {
  readonly schemas: Record<string, Json> = {};
  readonly #names: ReadonlyMap<unknown, string>;

  /** `names` has the schemas that a route or the document names; other schemas name themselves. */
  constructor(names: ReadonlyMap<unknown, string>) {
    this.#names = names;
  }

  nameOf(schema: unknown): string | undefined {
    return this.#names.get(schema) ?? componentNameOf(schema);
  }

  /** Lists a schema under a name, once, and returns a reference to it. */
  refer(name: string, schema: TSchema): Json {
    const listed = this.schemas[name];
    // The entry exists before its content, so that a component precedes those it refers to.
    if (!listed) this.schemas[name] = {};
    const content = this.#inComponent(schema);
    assert(!listed || isSame(listed, content), `two schemas are named ${name}`);
    this.schemas[name] = content;
    return { $ref: `#/components/schemas/${name}` };
  }

  #inComponent(schema: TSchema): Json {
    return toJson(schema, (value) => {
      const name = value === schema ? undefined : this.nameOf(value);
      return name === undefined ? describeDefault(withType(value)) : this.refer(name, value as TSchema);
    });
  }
}

/** The schema of a parameter, without references. */
export function parameterSchema(schema: TSchema): Json {
  return toJson(schema, withType);
}

/** TypeBox schemas are JSON Schema already; this drops the metadata that only TypeBox uses. */
function toJson(schema: TSchema, replace: (value: unknown) => unknown): Json {
  return JSON.parse(JSON.stringify(schema, (_key, value: unknown) => replace(value))) as Json;
}

/** The values of an enumeration imply their type; client generators and reference pages need it stated. */
function withType(value: unknown): unknown {
  const { enum: values, type } = (value ?? {}) as { enum?: unknown; type?: unknown };
  const isText = Array.isArray(values) && values.every((item) => typeof item === 'string');
  return isText && type === undefined ? { type: 'string', ...(value as Json) } : value;
}

/** Client generators treat a field with a `default` as required, in requests too. So the description states the default instead. */
function describeDefault(value: unknown): unknown {
  const { default: fallback, ...schema } = (value ?? {}) as Json;
  if (!['string', 'number', 'boolean'].includes(typeof fallback)) return value;
  const description = [schema.description ?? [], `Default: \`${fallback}\`.`].flat().join(' ');
  return { ...schema, description };
}

function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
