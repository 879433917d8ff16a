import { randomUUID } from 'node:crypto';

export type Body = Readonly<Record<string, unknown>> & { readonly id: string };

/** An API client with a key. Paths are given without the prefix `developer_api_`. */
export interface Api {
  readonly key: string;
  get(path: string): Promise<Body>;
  list(path: string): Promise<readonly Body[]>;
  post(path: string, body?: unknown): Promise<Body>;
  /** Returns the status and does not throw on an error response. */
  status(path: string, body?: unknown, idempotencyKey?: string): Promise<number>;
}

export function apiOf(url: string, key: string): Api {
  const send = async (name: string, body?: unknown, idempotencyKey: string = randomUUID()) => {
    const response = await fetch(`${url}/_api/developer_api_${name}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const expectOk = async (name: string, body?: unknown) => {
    const { status, text } = await send(name, body);
    if (status >= 300) throw new Error(`${name} ${JSON.stringify(body)}: ${status} ${text}`);
    return JSON.parse(text) as Body;
  };
  return {
    key,
    get: (name) => expectOk(name),
    list: async (name) => (await expectOk(name)).data as readonly Body[],
    post: (name, body = {}) => expectOk(name, body),
    status: async (name, body, idempotencyKey) => (await send(name, body, idempotencyKey)).status,
  };
}
