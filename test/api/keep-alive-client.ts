import { randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Body, ErrorPart } from '../support/api-client.ts';
import type { KeyHolder } from '../support/tenant.ts';

/** A response, or the error that ended the connection. */
interface Outcome {
  /** Undefined when the connection was lost. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body & { readonly error?: ErrorPart };
  readonly connectionError: string | undefined;
}

export interface KeepAliveClient {
  get(path: string): Promise<Outcome>;
  head(path: string): Promise<Outcome>;
  post(path: string, body: unknown, key?: string): Promise<Outcome>;
  close(): void;
}

/** Requests over real keep-alive connections. */
export function keepAliveClient(
  url: string,
  { key }: Pick<KeyHolder, 'key'>,
  socketsMax = 50,
): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  const send = (method: string, path: string, body?: unknown, idempotencyKey = randomUUID() as string) =>
    new Promise<Outcome>((resolve) => {
      const lost = (error: Error & { code?: string }) =>
        resolve({
          status: undefined,
          headers: {},
          body: {} as Body,
          connectionError: error.code ?? error.message,
        });
      const sent = request(
        `${url}/_api/${path}`,
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${key}`,
            ...(method === 'POST'
              ? { 'idempotency-key': idempotencyKey, 'content-type': 'application/json' }
              : {}),
          },
        },
        (response) => {
          text(response).then((content) => {
            const { statusCode: status, headers } = response;
            resolve({
              status,
              headers,
              body: (content === '' ? {} : JSON.parse(content)) as Body,
              connectionError: undefined,
            });
          }, lost);
        },
      );
      sent.on('error', lost);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    get: (path) => send('GET', path),
    head: (path) => send('HEAD', path),
    post: (path, body, idempotencyKey) => send('POST', path, body, idempotencyKey),
    close: () => agent.destroy(),
  };
}
