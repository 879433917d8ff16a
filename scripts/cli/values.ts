import { currencies } from '../../src/kernel/currency.ts';
import { roles, scopes } from '../../src/kernel/permissions.ts';
import { transferScenarios } from '../../src/kernel/scenario.ts';
import type { ApiDocument, Schema } from '../sdk/document.ts';
import { inputsOf } from '../sdk/inputs.ts';
import { methodsOf } from '../sdk/methods.ts';

/** Commands accept paths without it. */
const apiRoot = /^\/_api\/developer_api_/;

/**
 * cli/generated/values.ts: the values that a field of an operation may have, for every field with a closed set. Commands validate and complete
 * their options with them. The CLI does not load the whole schemas: they are ten times as large.
 */
export function valuesFile(document: ApiDocument): string {
  const operations = Object.entries(inputsOf(document, methodsOf(document))).flatMap(([id, input]) => {
    const fields = [...closedFields(input)].map(([name, values]) => `    ${name}: ${listOf(values)},\n`);
    return fields.length === 0 ? [] : [`  ${id}: {\n${fields.join('')}  },\n`];
  });
  const others = {
    currencies: currencies.map(({ code }) => code),
    roles,
    scopes,
    transferScenarios,
  };
  const paths = Object.entries(requestPaths(document)).map(
    ([verb, known]) => `  ${verb}: ${listOf(known)},\n`,
  );
  return [
    '// Generated from docs/openapi.json and src/kernel by `npm run golden`. Do not edit.\n',
    `/** The allowed values of each field with a closed set, by operation. */\nexport const fieldValues = {\n${operations.join('')}} as const;\n`,
    ...Object.entries(others).map(([name, values]) => `export const ${name} = ${listOf(values)} as const;\n`),
    `/** The API paths without ids, for the commands that send any request. */\nexport const requestPaths = {\n${paths.join('')}} as const;\n`,
  ].join('\n');
}

function requestPaths(document: ApiDocument): Readonly<Record<'GET' | 'POST', readonly string[]>> {
  const methods = methodsOf(document).filter(({ path, gives }) => !path.includes('{') && gives !== 'stream');
  const pathsOf = (wanted: string) => [
    ...new Set(methods.filter(({ verb }) => verb === wanted).map(({ path }) => path.replace(apiRoot, ''))),
  ];
  return { GET: pathsOf('GET'), POST: pathsOf('POST') };
}

/** Every field with a closed set, wherever it is in the input, with its values. A name in several alternatives has the values of all. */
function closedFields(input: unknown, found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  if (typeof input !== 'object' || input === null) return found;
  for (const [key, inner] of Object.entries(input)) {
    if (key === 'properties')
      for (const [name, field] of Object.entries(inner as Record<string, Schema>)) {
        const values = new Set([...(found.get(name) ?? []), ...constants(field)]);
        if (values.size > 0) found.set(name, values);
      }
    closedFields(inner, found);
  }
  return found;
}

function constants({ const: only, enum: several = [], items, anyOf = [], oneOf = [] }: Schema): string[] {
  const own = [only, ...several].filter((value) => typeof value === 'string');
  return [...own, ...[...anyOf, ...oneOf, ...(items ? [items] : [])].flatMap(constants)];
}

function listOf(values: Iterable<string>): string {
  return `[${[...values].map((value) => `'${value}'`).join(', ')}]`;
}
