import { type CallOptions, callOptionNames } from './operation.ts';
import type { OptionNames } from './options.ts';
import type { Query, Transport } from './transport.ts';

export interface RequestOptions extends CallOptions {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  /** Generated for each POST by default. */
  readonly idempotencyKey?: string | undefined;
}

const requestOptionNames: OptionNames<RequestOptions> = {
  ...callOptionNames,
  query: true,
  body: true,
  idempotencyKey: true,
};

/** Sends a request for which the client has no method, with the same retries, errors and idempotency keys. */
export async function sendRequest<T extends object>(
  transport: Transport,
  method: 'GET' | 'POST',
  path: string,
  { query, body, idempotencyKey, ...options }: RequestOptions = {},
): Promise<T> {
  const verb = method.toUpperCase();
  if (verb !== 'GET' && verb !== 'POST')
    throw new TypeError(`${method} is not a method of the API. Use GET or POST.`);
  // Anything else could change the host of the address.
  if (!path.startsWith('/')) throw new TypeError(`The path must start with a slash: ${path}`);
  if (verb === 'GET' && (body ?? idempotencyKey) !== undefined)
    throw new TypeError('A GET request takes no body and no idempotencyKey.');
  return transport.json<T>(
    {
      verb,
      path,
      query,
      accept: 'application/json',
      body: body === undefined ? undefined : JSON.stringify(body),
      ...(verb === 'POST' ? { idempotencyKey: idempotencyKey ?? crypto.randomUUID() } : {}),
      optionNames: requestOptionNames,
    },
    options,
  );
}
