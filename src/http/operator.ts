import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Answer } from '../engine/submission.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { limits } from '../kernel/limits.ts';
import { decodeCursor, instantToText, pageOf } from '../kernel/list.ts';
import type { PresentedPage } from '../kernel/route.ts';
import { id, pageQuery, strict, text } from '../kernel/schema.ts';
import { type Scope, scopes } from '../kernel/scopes.ts';
import type { OrganizationRow } from '../resources/organizations/machine.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendJson } from './send.ts';
import { listBody } from './serve.ts';
import { compileBody, compileQuery } from './validate.ts';

/** What the operator can do; the request is named in the trail of what it does. */
export interface OperatorActions {
  organizations(afterId: string | undefined, limit: number): Promise<readonly OrganizationRow[]>;
  createTenant(request: Asking, asked: TenantBody): Promise<Answer>;
  createKey(request: Asking, orgId: string, asked: KeyBody): Promise<Answer | Refusal>;
  reset(request: Asking, orgId: string): Promise<Answer | Refusal>;
}

type Asking = Pick<FastifyRequest, 'id' | 'ip'>;

export interface OperatorSettings {
  /** Without one there is no operator API. */
  readonly token: string | undefined;
  readonly actions: OperatorActions;
}

interface TenantBody {
  readonly name: string;
  readonly application?: { readonly name: string };
  readonly scopes?: readonly Scope[];
  readonly keyName?: string;
}

interface KeyBody {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly applicationId?: string;
}

const prefix = '/_operator/';
const bearer = /^Bearer +(\S+)$/i;
const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;

const Name = text(limits.nameLengthMax);
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true });
const Tenant = strict({
  name: Name,
  application: Type.Optional(strict({ name: Name })),
  scopes: Type.Optional(Scopes),
  keyName: Type.Optional(Name),
});
const Key = strict({
  name: Name,
  scopes: Type.Optional(Scopes),
  applicationId: Type.Optional(id('application')),
});

interface Handled {
  readonly request: FastifyRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
}

interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly handle: (asked: Handled) => Promise<Answer | PresentedPage | Refusal>;
}

/**
 * What only whoever runs the server may do: make organizations, look at them from outside, empty them. It stands beside the
 * API and not in it: it takes the token of the server instead of a key, and no Idempotency-Key.
 */
export function addOperator(app: FastifyInstance, { token, actions }: OperatorSettings): void {
  if (token === undefined) return;
  const expected = digest(token);
  const admit = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const given = bearer.exec(request.headers.authorization ?? '')?.[1];
    const isOperator = given !== undefined && timingSafeEqual(digest(given), expected);
    done(isOperator ? undefined : new Refused(refuse('operator_token_invalid')));
  };
  for (const { method, path, query: Query, body: Body, handle } of routesOf(actions)) {
    const checkQuery = compileQuery(Query ?? strict({}));
    const checkBody = compileBody(Body ?? strict({}));
    app.route({
      method,
      url: prefix + path,
      onRequest: admit,
      handler: async (request, reply) => {
        const query = { ...(request.query as Record<string, unknown>) };
        const isJson = jsonType.test(request.headers['content-type'] ?? 'application/json');
        if (method === 'POST' && !isJson) throw new Refused(refuse('unsupported_media_type'));
        const body = request.body ?? {};
        const refusal = checkQuery(query) ?? (method === 'POST' ? checkBody(body) : undefined);
        if (refusal) throw new Refused(refusal);
        const params = request.params as Record<string, string>;
        return send(reply, await handle({ request, params, body, query }));
      },
    });
  }
}

function routesOf(actions: OperatorActions): readonly OperatorRoute[] {
  return [
    {
      method: 'GET',
      path: 'organizations',
      query: strict(pageQuery),
      handle: async ({ query }) => {
        const { limit = limits.listLimitDefault, cursor } = query as { limit?: number; cursor?: string };
        const after = cursor === undefined ? undefined : decodeCursor('organization', cursor);
        if (cursor !== undefined && after === undefined) return refuse('invalid_cursor', { param: 'cursor' });
        const { rows, ...page } = pageOf(await actions.organizations(after, limit + 1), limit);
        return { data: rows.map(presentOrganization), ...page };
      },
    },
    {
      method: 'POST',
      path: 'organizations',
      body: Tenant,
      handle: ({ request, body }) => actions.createTenant(request, body as TenantBody),
    },
    {
      method: 'POST',
      path: 'organizations/:id/keys',
      body: Key,
      handle: ({ request, params, body }) => actions.createKey(request, params.id ?? '', body as KeyBody),
    },
    {
      method: 'POST',
      path: 'organizations/:id/reset',
      handle: ({ request, params }) => actions.reset(request, params.id ?? ''),
    },
  ];
}

function presentOrganization({ id: orgId, name, status, createdAt }: OrganizationRow) {
  return {
    object: 'organization',
    sandbox: true,
    status,
    id: orgId,
    name,
    createdAt: instantToText(createdAt),
  } as const;
}

function send(reply: FastifyReply, answer: Answer | PresentedPage | Refusal): FastifyReply {
  if ('ok' in answer) throw new Refused(answer);
  return 'data' in answer
    ? sendJson(reply, 200, listBody(answer, reply.request.id))
    : sendAnswer(reply, answer);
}

/** Compared by their hashes, which have one length and tell nothing of where two tokens differ. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
