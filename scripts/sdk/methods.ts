import { type ApiDocument, type ApiOperation, type Parameter, pascal } from './document.ts';
import { type MethodName, methodNameOf, variantOf } from './method-names.ts';
import { comment, nameOf, type Shapes } from './shapes.ts';

/** A method of the client, for the generated files. An operation with two content types is two methods. */
export interface Method extends MethodName {
  readonly operation: ApiOperation;
  readonly verb: 'GET' | 'POST';
  readonly path: string;
  readonly gives: 'json' | 'page' | 'text' | 'stream';
  readonly accept: string;
  readonly answer: string;
}

const eventStream = 'text/event-stream';

export function methodsOf({ paths, components }: ApiDocument): Method[] {
  const methods = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, operation]) => {
      const names = methodNameOf(verb.toUpperCase(), path, operation);
      const content = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
        .content;
      const hasJson = content?.['application/json'] !== undefined;
      return Object.entries(content ?? {}).map(([accept, { schema }]): Method => {
        const answer = schema.$ref?.split('/').at(-1) ?? '';
        const { data, hasMore, nextCursor } = components.schemas[answer]?.properties ?? {};
        const common = { operation, path, accept, verb: verb.toUpperCase() as 'GET' | 'POST' };
        if (accept === 'application/json')
          return {
            ...common,
            ...names,
            answer: nameOf(answer),
            gives: data && hasMore && nextCursor ? 'page' : 'json',
          };
        if (accept === eventStream) return { ...common, ...names, answer: '', gives: 'stream' };
        const method = hasJson ? variantOf(accept, operation.operationId) : names.method;
        return { ...common, ...names, method, answer: 'string', gives: 'text' };
      });
    }),
  );
  const operationsByName = new Map<string, string>();
  for (const { namespace, method, operation } of methods) {
    const name = [namespace, method].filter(Boolean).join('.');
    const other = operationsByName.get(name);
    if (other !== undefined)
      throw new Error(
        `${other} and ${operation.operationId} are both sandbank.${name}(). Give them different names in scripts/sdk/method-names.ts.`,
      );
    operationsByName.set(name, operation.operationId);
  }
  return methods;
}

export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

export function queryOf({ parameters }: ApiOperation): Parameter[] {
  return parameters.filter((parameter) => parameter.in === 'query');
}

/** A GET takes its query as an argument; a POST takes it among the options, because its argument is the body. */
export function takes({ verb, operation, gives }: Method): 'query' | 'body' | undefined {
  if (verb === 'POST') return operation.requestBody ? 'body' : undefined;
  return queryOf(operation).length > 0 || gives === 'page' ? 'query' : undefined;
}

function queryName({ operationId }: ApiOperation): string {
  return `${pascal(operationId)}Query`.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** The types of all queries. */
export function queries(methods: readonly Method[], shapes: Shapes): string[] {
  const written = methods.filter((method) => takes(method) === 'query' && method.gives !== 'stream');
  const byName = new Map(written.map((method) => [queryName(method.operation), method.operation]));
  return [...byName].map(([name, operation]) => {
    const entries = queryOf(operation).map((one) => [one.name, one.schema, false] as const);
    return `export interface ${name} ${shapes.properties(entries, { isInput: true, indent: '' })}\n`;
  });
}

/** The line of a method in its interface. */
export function signature(method: Method, shapes: Shapes, indent: string): string {
  const { operation, verb, path, gives, answer } = method;
  const names = pathNames(path).map((name) => `${name}: string`);
  const taken = takes(method);
  const body = operation.requestBody?.content['application/json']?.schema;
  const mark = operation.requestBody?.required ? '' : '?';
  const argument =
    taken === 'query'
      ? [`query?: ${queryName(operation)}`]
      : body
        ? [`body${mark}: ${shapes.type(body, { isInput: true, indent })}`]
        : [];
  const extra =
    verb === 'POST'
      ? queryOf(operation).map(
          (one) => `${one.name}?: ${shapes.type(one.schema, { isInput: true, indent })} | undefined`,
        )
      : [];
  const options =
    verb === 'GET'
      ? 'CallOptions'
      : extra.length > 0
        ? `WriteOptions & { ${extra.join('; ')} }`
        : 'WriteOptions';
  const result = gives === 'page' ? `Pages<${answer}>` : `Promise<${answer}>`;
  const text = `${operation.description} \`${verb} ${path}\``;
  return `${comment(text, indent)}${indent}${method.method}(${[...names, ...argument, `options?: ${options}`].join(', ')}): ${result};\n`;
}
