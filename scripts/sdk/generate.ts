import { type ApiDocument, pascal } from './document.ts';
import { inputsOf } from './inputs.ts';
import { type Method, methodsOf, pathNames, queries, queryOf, signature, takes } from './methods.ts';
import { Shapes } from './shapes.ts';

const head = '// Generated from docs/openapi.json by `npm run golden`. Do not edit.\n';

/** Hand-written parts of namespaces in sdk/, in addition to the operations of the document. */
const byHand: Readonly<Record<string, readonly [type: string, file: string]>> = {
  webhooks: ['WebhookVerification', '../webhooks.ts'],
  events: ['EventStreaming', '../stream.ts'],
};

/** The generated files of the SDK, by their paths. TypeScript 7 has no compiler API yet, so they are built as text. */
export function generateSdk(document: ApiDocument): Map<string, string> {
  const shapes = new Shapes(document);
  const methods = methodsOf(document);
  const shapesText = shapesFile(document, shapes, methods);
  const files = {
    shapes: shapesText,
    namespaces: namespacesFile(shapes, methods, declaredNames(shapesText)),
    operations: operationsFile(document, methods),
    inputs: inputsFile(document, methods),
    'event-names': eventNamesFile(document),
  };
  return new Map(
    Object.entries(files).map(([name, text]) => [`sdk/generated/${name}.ts`, text.replaceAll(/ +$/gm, '')]),
  );
}

function shapesFile({ webhooks }: ApiDocument, shapes: Shapes, methods: readonly Method[]): string {
  const events = Object.values(webhooks).map(({ post }) => {
    const { schema } = post.requestBody.content['application/json'] ?? {};
    return (schema?.allOf?.[0]?.$ref ?? schema?.$ref ?? '').split('/').at(-1) ?? '';
  });
  const union = [...new Set(events)].join(' | ');
  return [
    head,
    ...shapes.declarations(),
    ...queries(methods, shapes),
    `/** An event as webhooks receive it: check \`type\`, and \`data\` is the record of that kind. */\nexport type SandbankEvent = ${union};\n`,
    "// Distributes over the union, so that `type` still selects `data`.\ntype EventContent<E> = E extends SandbankEvent ? Pick<E, 'type' | 'data'> : never;\n",
    '/** An event as the API returns it: check `type`, and `data` is the record of that kind. */\nexport type Event = EventFields & EventContent<SandbankEvent>;\n',
  ].join('\n');
}

function namespacesFile(shapes: Shapes, methods: readonly Method[], declared: ReadonlySet<string>): string {
  const spoken = methods.filter(({ gives }) => gives !== 'stream');
  const names = [...new Set(spoken.flatMap(({ namespace }) => namespace ?? []))].sort();
  const interfaces = names.map((name) => {
    const own = spoken.filter(({ namespace }) => namespace === name);
    return `export interface ${pascal(name)}Namespace {\n${own.map((one) => signature(one, shapes, '  ')).join('')}}\n`;
  });
  const fields = names.map((name) => {
    const type = `${pascal(name)}Namespace${byHand[name] ? ` & ${byHand[name][0]}` : ''}`;
    return `  declare readonly ${name}: ${type};\n`;
  });
  const alone = spoken
    .filter(({ namespace }) => namespace === undefined)
    .map((one) =>
      signature(one, shapes, '  ').replace(
        /^( +)(\w+)\((.*)\): (.*);$/m,
        '$1declare readonly $2: ($3) => $4;',
      ),
    );
  const body = [
    ...interfaces,
    `/** The methods of a client. Their implementation is not generated: it is the table of operations, bound to a transport. */\nexport abstract class Namespaces {\n${fields.join('')}${alone.join('')}\n  constructor(bound: object) {\n    Object.assign(this, bound);\n  }\n}\n`,
  ].join('\n');
  const imports = Object.values(byHand).map(([type, file]) => `import type { ${type} } from '${file}';\n`);
  const options = ['CallOptions', 'WriteOptions'].filter((name) => body.includes(name));
  const used = [...declared].filter((name) => new RegExp(`\\b${name}\\b`).test(body)).sort();
  return [
    head,
    `import type { ${options.join(', ')} } from '../operation.ts';\nimport type { Pages } from '../pages.ts';\n${imports.join('')}import type {\n${used.map((name) => `  ${name},\n`).join('')}} from './shapes.ts';\n`,
    body,
  ].join('\n');
}

/** The types that a file declares and exports. */
export function declaredNames(text: string): Set<string> {
  return new Set([...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name));
}

function operationsFile({ info }: ApiDocument, methods: readonly Method[]): string {
  const rows = methods.map((method) => {
    const { operation, namespace, verb, path, gives, accept } = method;
    const fields = {
      id: operation.operationId,
      ...(namespace === undefined ? {} : { namespace }),
      method: method.method,
      verb,
      path,
      names: pathNames(path),
      ...(takes(method) === undefined ? {} : { takes: takes(method) }),
      ...(verb === 'POST' && queryOf(operation).length > 0
        ? { optionsInQuery: queryOf(operation).map(({ name }) => name) }
        : {}),
      gives,
      accept,
    };
    const text = Object.entries(fields).map(
      ([name, value]) => `${name}: ${JSON.stringify(value).replaceAll('"', "'").replaceAll("','", "', '")}`,
    );
    return `  { ${text.join(', ')} },\n`;
  });
  return [
    head,
    `import type { Operation } from '../operation.ts';\n`,
    `/** The API version that these files were generated from. */\nexport const apiVersion = '${info.version}';\n`,
    `export const operations: readonly Operation[] = [\n${rows.join('')}];\n`,
  ].join('\n');
}

function inputsFile(document: ApiDocument, methods: readonly Method[]): string {
  const rows = Object.entries(inputsOf(document, methods)).map(
    ([id, input]) => `  ${id}: ${JSON.stringify(input)},\n`,
  );
  return [
    head,
    `/** The input of each operation, its body or its query, as JSON Schema without references. Not part of the client. */\nexport const inputs: Readonly<Record<string, { readonly schema?: object }>> = {\n${rows.join('')}};\n`,
  ].join('\n');
}

/** The values of `EventType`, for checks at run time. Only the test kit uses them, so that the client stays small. */
function eventNamesFile({ components }: ApiDocument): string {
  const types = components.schemas.EventCreate?.properties?.type?.enum ?? [];
  return [
    head,
    `import type { EventType } from './shapes.ts';\n`,
    `export const eventTypes: readonly EventType[] = [\n${types.map((type) => `  '${type}',\n`).join('')}];\n`,
  ].join('\n');
}
