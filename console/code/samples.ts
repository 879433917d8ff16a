import { operations } from '../../sdk/generated/operations.ts';
import type { Operation } from '../../sdk/operation.ts';
import type { ApiRequest } from '../client/request.ts';
import type { Language } from './languages.ts';
import { jsonLiteral, pythonLiteral, typescriptLiteral, typescriptText } from './literals.ts';

/** The server that `new Sandbank()` calls without SANDBANK_URL. */
const clientDefaultUrl = 'http://127.0.0.1:4000';

/**
 * The request as code. It reads the API key from the environment, so that no sample contains one. Undefined if the language
 * cannot express the request: the client has no method for an unknown path, and a body that is not JSON is only text.
 */
export function sampleOf(language: Language, request: ApiRequest, publicUrl: string): string | undefined {
  switch (language) {
    case 'curl':
      return curl(request, publicUrl);
    case 'typescript':
      return typescript(request, publicUrl);
    case 'python':
      return python(request, publicUrl);
  }
}

function urlOf({ path, query }: ApiRequest, publicUrl: string): string {
  return `${publicUrl}/_api/${path}${query ? `?${query}` : ''}`;
}

function curl(request: ApiRequest, publicUrl: string): string {
  const isWrite = request.method === 'POST';
  const lines = [
    `curl${isWrite ? ' -X POST' : ''} ${shellText(urlOf(request, publicUrl))}`,
    '-H "Authorization: Bearer $SANDBANK_API_KEY"',
  ];
  if (isWrite) {
    // Works where uuidgen is not installed. Only bash and zsh have RANDOM, so the process id is a part of the key, too.
    lines.push('-H "Idempotency-Key: $(date +%s)-$$-$RANDOM"', "-H 'Content-Type: application/json'");
    lines.push(`-d ${shellText(readableText(request.body))}`);
  }
  return lines.join(' \\\n  ');
}

/** Quotes for the shell: inside single quotes only the quote itself is special. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The body on several lines if it is long. A text with another meaning after parsing, such as duplicate keys, stays as it is. */
function readableText(body = '{}'): string {
  const parsed = parse(body);
  return parsed !== undefined && JSON.stringify(parsed.value) === body ? jsonLiteral(parsed.value, 1) : body;
}

function typescript(request: ApiRequest, publicUrl: string): string | undefined {
  const operation = operationOf(request);
  const values = operation && argumentsOf(operation, request);
  if (operation === undefined || values === undefined) return undefined;
  const method = [operation.namespace, operation.method].filter(Boolean).join('.');
  const call = `sandbank.${method}(${values.join(', ')})`;
  const options = publicUrl === clientDefaultUrl ? '' : `{ baseUrl: ${typescriptText(publicUrl)} }`;
  const lines = [
    "import { Sandbank } from 'sandbank/client';",
    '',
    `const sandbank = new Sandbank(${options});`,
  ];
  if (operation.gives === 'stream') lines.push(`for await (const event of ${call}) console.log(event);`);
  else lines.push(`const response = await ${call};`, 'console.log(response);');
  return lines.join('\n');
}

/** Path parameters, then the body or query, then the options that a write sends in its query. */
function argumentsOf(operation: Operation, request: ApiRequest): readonly string[] | undefined {
  const parameters = parametersOf(operation, request.path) ?? [];
  const values = parameters.map((value) => typescriptText(decodeURIComponent(value)));
  const body = parse(request.body);
  const query = queryOf(request);
  const hasQuery = Object.keys(query).length > 0;
  if (body === undefined) return undefined;
  if (operation.takes === 'body') values.push(typescriptLiteral(body.value));
  // Fields that the operation does not take cannot be passed to its method.
  else if (JSON.stringify(body.value) !== '{}') return undefined;
  if (hasQuery && operation.takes !== 'query' && operation.optionsInQuery === undefined) return undefined;
  return hasQuery ? [...values, typescriptLiteral(query)] : values;
}

/** The parameters of the API that are numbers. */
export const numbersInQueries: ReadonlySet<string> = new Set(['limit', 'amountMin', 'amountMax']);

/** The query as the client takes it. */
function queryOf({ query = '' }: ApiRequest): Readonly<Record<string, string | number>> {
  const entries = [...new URLSearchParams(query)];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, numbersInQueries.has(name) ? Number(value) : value]),
  );
}

function python(request: ApiRequest, publicUrl: string): string | undefined {
  const parsed = parse(request.body);
  if (parsed === undefined || operationOf(request)?.gives === 'stream') return undefined;
  const isWrite = request.method === 'POST';
  const lines = [
    isWrite ? 'import json, os, urllib.request, uuid' : 'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(urlOf(request, publicUrl))},`,
  ];
  if (isWrite) {
    lines.push(
      '    method="POST",',
      '    headers={',
      '        "Authorization": "Bearer " + os.environ["SANDBANK_API_KEY"],',
      '        "Idempotency-Key": str(uuid.uuid4()),',
      '        "Content-Type": "application/json",',
      '    },',
      `    data=json.dumps(${pythonLiteral(parsed.value, 1)}).encode(),`,
    );
  } else lines.push('    headers={"Authorization": "Bearer " + os.environ["SANDBANK_API_KEY"]},');
  lines.push(
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.dumps(json.load(response), indent=2))',
  );
  return lines.join('\n');
}

function operationOf({ method, path }: ApiRequest): Operation | undefined {
  // A literal path goes before one with a parameter: `audit_entries/verify` is not an entry with the id `verify`.
  return operations
    .filter(({ verb, accept }) => verb === method && accept !== 'text/csv' && accept !== 'application/xml')
    .sort((one, other) => one.names.length - other.names.length)
    .find((operation) => parametersOf(operation, path) !== undefined);
}

/** The values of the path parameters, or undefined if the path is another one. */
function parametersOf({ path: template }: Operation, path: string): readonly string[] | undefined {
  const names = template.replace('/_api/', '').split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return undefined;
  const isParameter = (name: string) => name.startsWith('{');
  if (!names.every((name, index) => isParameter(name) || name === parts[index])) return undefined;
  return parts.filter((_, index) => isParameter(names[index] ?? ''));
}

function parse(text = ''): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text === '' ? '{}' : text) };
  } catch {
    return undefined;
  }
}
