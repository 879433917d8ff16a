import { operations } from '../sdk/generated/operations.ts';
import { nearest } from '../sdk/nearest.ts';
import type { Operation } from '../sdk/operation.ts';
import { isSandbankError } from './failure.ts';
import { wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

export interface RawRequest {
  readonly verb: Operation['verb'];
  /** With or without `/_api/` and `developer_api_`; may end with a query string. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
}

const root = '/_api/developer_api_';

/**
 * Sends a request to any path and returns the response: parsed when it is JSON, else as text. A path that this version does not know is
 * sent as well, because the server may be newer. When the server does not know it either, the error names the nearest operation.
 */
export async function sendRaw(session: Session, request: RawRequest): Promise<object | string> {
  const { verb, headers, body } = request;
  const [path, search] = splitPath(request.path);
  if (operations.some((one) => one.gives === 'stream' && one.path === `${root}${path}`))
    throw wrongUsage('This path is an endless stream. Use "sandbank events tail --follow".');
  const transport = await session.transport();
  try {
    const { value } = await transport.send(
      {
        verb,
        path: `${root}${path}`,
        query: { ...search, ...request.query },
        accept: 'application/json',
        body: body === undefined ? undefined : JSON.stringify(body),
        // Without a key a write is not retried.
        idempotencyKey: verb === 'GET' ? undefined : (request.idempotencyKey ?? crypto.randomUUID()),
      },
      { headers },
      (response) => response.text(),
    );
    return parsed(value);
  } catch (error) {
    if (isSandbankError(error)) error.message += suggestion(error.code, verb, path);
    throw error;
  }
}

function splitPath(input: string): readonly [path: string, query: Readonly<Record<string, string[]>>] {
  const [before = '', search = ''] = input.split('?', 2);
  const path = before.replace(/^\/*(_api\/+)?(developer_api_)?/, '');
  // Dots would lead out of the API.
  if (!/^\w+(\/[\w.~%:-]+)*$/.test(path) || /(^|\/)\.+(\/|$)/.test(path))
    throw wrongUsage(`"${input}" is not an API path. Use a path such as payments or payments/pay_...`);
  const query = new URLSearchParams(search);
  return [path, Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]))];
}

function suggestion(code: string, verb: Operation['verb'], path: string): string {
  if (code === 'method_not_allowed')
    return ` Use "sandbank ${verb === 'GET' ? 'post' : 'get'} ${path}" instead.`;
  if (code !== 'route_not_found') return '';
  const shapes = [...new Set(operations.map((one) => shapeOf(one.path.slice(root.length))))];
  const found = nearest(shapeOf(path), shapes);
  return found === undefined ? '' : ` Did you mean ${found}?`;
}

/** Treats all ids and dates as equal, because they do not identify the operation. */
function shapeOf(path: string): string {
  return path.replaceAll(/(?<=\/)(\{\w+\}|[a-z]{3}_[0-9a-z.]{3,}|\d{4}-\d\d-\d\d)(?=\/|$)/g, '{id}');
}

function parsed(text: string): object | string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}
