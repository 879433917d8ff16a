/** Fault plans in the words of their tests, and a client over real sockets that tells of a connection that was lost. */
import { randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { isHit, patternOf } from '../../src/kernel/fault.ts';
import type { Server } from '../../src/server.ts';
import type { ApiClient, Body, ErrorPart } from '../support/api-client.ts';
import type { KeyHolder } from '../support/tenant.ts';
import { done } from './lifecycle.ts';

export const plans = 'developer_api_fault_plans';
export const payments = 'developer_api_payments';
export const small = { amount: 1_250, currency: 'EUR' };

export async function plan(client: ApiClient, body: object): Promise<Body> {
  return done(await client.post(plans, body));
}

export async function readPlan(client: ApiClient, id: string): Promise<Body> {
  return done(await client.get(`${plans}/${id}`));
}

/** Which of the first so many a plan hits, from 1, by the kernel. */
export function hitsOf(seed: number, share: number, count: number): readonly number[] {
  const pattern = patternOf({ seed, share });
  return Array.from({ length: count }, (_, i) => i + 1).filter((k) => isHit(pattern, k));
}

/** What came of a request: an answer, or the end of its connection. */
export interface Outcome {
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body & { readonly error?: ErrorPart };
  readonly lost: string | undefined;
}

export interface Wire {
  get(path: string): Promise<Outcome>;
  head(path: string): Promise<Outcome>;
  post(path: string, body: unknown, key?: string): Promise<Outcome>;
  close(): void;
}

/** Calls over connections that are kept alive. */
export function wireTo(url: string, { key }: Pick<KeyHolder, 'key'>, socketsMax = 50): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  const send = (method: string, path: string, body?: unknown, idempotencyKey = randomUUID() as string) =>
    new Promise<Outcome>((resolve) => {
      const lost = (error: Error & { code?: string }) =>
        resolve({ status: undefined, headers: {}, body: {} as Body, lost: error.code ?? error.message });
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
          text(response).then((words) => {
            const { statusCode: status, headers } = response;
            resolve({
              status,
              headers,
              body: (words === '' ? {} : JSON.parse(words)) as Body,
              lost: undefined,
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

export interface LoggedRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly answer: string | null;
  readonly planId: string | null;
}

/** What the log of requests has of an organization, oldest first, without the calls about plans. */
export async function logged(server: Server, { orgId }: KeyHolder): Promise<readonly LoggedRequest[]> {
  await server.requestLog.flush();
  return server.database.query<LoggedRequest>(
    {
      name: '',
      text: `select id, method, route, http_status as status, error_code as "errorCode", response_body as answer,
          fault_plan_id as "planId"
        from requests where org_id = $1 and route not like '%FaultPlan%' order by id`,
    },
    [orgId],
  );
}
