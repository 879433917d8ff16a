import type { HttpFile, HttpRequest } from './http-file.ts';

const authorization = 'Authorization';

/** A Bruno collection of the requests, by path below the folder of the collection. */
export function brunoCollection({ variables, requests }: HttpFile): Map<string, string> {
  const values = [...variables].map(([name, value]) => [name, name === 'run' ? 'bruno-1' : value] as const);
  const width = String(requests.length).length;
  return new Map([
    [
      'bruno.json',
      `${JSON.stringify({ version: '1', name: 'Sandbank', type: 'collection', ignore: ['node_modules', '.git'] }, null, 2)}\n`,
    ],
    [
      'collection.bru',
      file(
        block('auth', ['mode: bearer']),
        block('auth:bearer', ['token: {{key}}']),
        block('docs', [
          'The main flows of Sandbank, generated from examples/sandbank.http by `npm run golden`.',
          'Start Sandbank, select the environment `local`, set `key`, and run the collection.',
          'To run it again, change `run`: it begins every Idempotency-Key.',
        ]),
      ),
    ],
    [
      'environments/local.bru',
      file(
        block(
          'vars',
          values.map(([name, value]) => `${name}: ${value}`),
        ),
      ),
    ],
    ...requests.map((request, index): [string, string] => [
      `${String(index + 1).padStart(width, '0')}-${fileName(request.title)}.bru`,
      requestFile(request, index + 1),
    ]),
  ]);
}

function requestFile(
  { title, method, url, headers, body, captures, expected }: HttpRequest,
  place: number,
): string {
  const [, query] = url.split('?');
  return file(
    block('meta', [`name: ${title}`, 'type: http', `seq: ${place}`]),
    block(method.toLowerCase(), [`url: ${url}`, `body: ${body === '' ? 'none' : 'json'}`, 'auth: inherit']),
    query === undefined
      ? ''
      : block(
          'params:query',
          query.split('&').map((pair) => pair.replace('=', ': ')),
        ),
    // The collection has the key.
    block(
      'headers',
      headers.filter(([name]) => name !== authorization).map(([name, value]) => `${name}: ${value}`),
    ),
    body === '' ? '' : block('body:json', body.split('\n')),
    block(
      'vars:post-response',
      captures.map(([variable, path]) => `${variable}: res.body.${path}`),
    ),
    block('assert', [expected === undefined ? 'res.status: lt 300' : `res.status: eq ${expected}`]),
  );
}

function block(name: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `${name} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

function file(...blocks: readonly string[]): string {
  return blocks.filter((text) => text !== '').join('\n');
}

function fileName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll("'", '')
    .replaceAll(/[^a-z0-9]+/g, '-');
}
