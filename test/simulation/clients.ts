import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { applySeed } from '../../src/admin/seed.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import type { Fee } from '../model/payments.ts';
import type { Body } from '../support/api-client.ts';
import { newKey, tenant } from '../support/tenant.ts';
import { applicationSettings } from './commands.ts';
/** Simulation clients: an organization with four applications that have different settings, and a client of another organization. */

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
  /** The error code, or null. */
  readonly code: string | null;
  readonly isReplay: boolean;
}

export interface SimulationClient {
  /** Paths are below `/_api/`. */
  get(url: string): Promise<Answer>;
  post(url: string, body: object | undefined, idempotencyKey: string): Promise<Answer>;
}

/**
 * A client over `inject` for tens of thousands of requests. It checks the envelope of every response, as `ApiClient` does, but with plain
 * comparisons, because an `expect` costs more than the request.
 */
export class ServerClient implements SimulationClient {
  readonly #app: FastifyInstance;
  readonly #authorization: string;

  constructor(app: FastifyInstance, key: string) {
    this.#app = app;
    this.#authorization = `Bearer ${key}`;
  }

  get(url: string): Promise<Answer> {
    return this.#send('GET', url, {});
  }

  post(url: string, body: object | undefined, key: string): Promise<Answer> {
    const headers = { 'idempotency-key': key };
    if (body === undefined) return this.#send('POST', url, headers);
    return this.#send('POST', url, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body));
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    headers: Readonly<Record<string, string>>,
    payload?: string,
  ): Promise<Answer> {
    const response = await this.#app.inject({
      method,
      url: `/_api/${url}`,
      headers: { authorization: this.#authorization, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const { statusCode: status, body: text } = response;
    const body = JSON.parse(text) as Body;
    const isReplay = response.headers['idempotent-replayed'] === 'true';
    const isOwn = body.requestId === response.headers['request-id'];
    const isError = body.object === 'error' && body.status === 'error';
    if (status >= 500 || isError !== status >= 400 || body.sandbox !== true || isOwn === isReplay) {
      throw new Error(`${method} ${url} has status ${status}: ${text}`);
    }
    return { status, text, body, code: isError ? body.error.code : null, isReplay };
  }
}

export interface SimulationOrganization {
  readonly orgId: string;
  readonly applications: readonly { readonly client: SimulationClient; readonly fee: Fee }[];
  /** Has a key that may only read. */
  readonly auditor: SimulationClient;
  readonly stranger: SimulationClient;
}

export async function createOrganization(
  server: Server,
  stranger: SimulationClient,
): Promise<SimulationOrganization> {
  const { orgId, key } = await tenant(server, { scopes: ['payments:read'] });
  const [row] = await server.database.query<{ name: string }>(
    { name: '', text: 'select name from organizations where org_id = $1' },
    [orgId],
  );
  const keys = applicationSettings.map(() => newKey());
  const applications = applicationSettings.map((own, i) => ({
    name: `settings ${i} ${randomBytes(4).toString('hex')}`,
    apiKeys: [{ name: 'key', key: keys[i] ?? '', scopes: [...scopes] }],
    ...own,
  }));
  await applySeed({ organizations: [{ name: row?.name ?? '', applications }] }, server, Date.now);
  return {
    orgId,
    auditor: new ServerClient(server.app, key),
    stranger,
    applications: applicationSettings.map(({ fee }, i) => ({
      client: new ServerClient(server.app, keys[i] ?? ''),
      fee: { basisPoints: BigInt(fee?.basisPoints ?? 290), fixed: BigInt(fee?.fixedAmount ?? 30) },
    })),
  };
}
