import type { ApiDocument, Schema } from './document.ts';
import { type Method, queryOf, takes } from './methods.ts';

const depthMax = 12;

/** Operation inputs as self-contained JSON Schema, for programs that expose the operations. */
export function inputsOf(document: ApiDocument, methods: readonly Method[]): Record<string, object> {
  const withJson = methods.filter(({ gives }) => gives === 'json' || gives === 'page');
  return Object.fromEntries(
    withJson.map((method) => {
      const { operation } = method;
      const body = operation.requestBody?.content['application/json']?.schema;
      const query = queryOf(operation);
      const properties = Object.fromEntries(
        query.map(({ name, schema }) => [name, resolved(document, schema, 0)]),
      );
      const schema =
        takes(method) === 'query' ? { type: 'object', properties } : body && resolved(document, body, 0);
      return [operation.operationId, schema === undefined ? {} : { schema }];
    }),
  );
}

function resolved(document: ApiDocument, value: unknown, depth: number): unknown {
  if (depth > depthMax) throw new Error('A schema is nested too deeply, or contains itself.');
  if (Array.isArray(value)) return value.map((one) => resolved(document, one, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Schema;
  const name = $ref?.split('/').at(-1);
  const whole = name === undefined ? rest : { ...document.components.schemas[name], ...rest };
  return Object.fromEntries(
    Object.entries(whole)
      .filter(([key, one]) => !isForPeople(key, one))
      .map(([key, one]) => [key, resolved(document, one, depth + 1)]),
  );
}

/** Examples and titles are for readers of the document. A field with such a name is an object, not a text or a list. */
function isForPeople(key: string, value: unknown): boolean {
  return (
    ['title', 'example', 'examples'].includes(key) && (typeof value !== 'object' || Array.isArray(value))
  );
}
