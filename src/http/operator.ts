import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Answer } from '../engine/submission.ts';
import { type Presented, resourceBody } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { limits } from '../kernel/limits.ts';
import { decodeCursor, instantToText, pageOf } from '../kernel/list.ts';
import { type Scope, scopes } from '../kernel/permissions.ts';
import type { PresentedPage, TextAnswer } from '../kernel/route.ts';
import { id, pageQuery, strict, Time, text } from '../kernel/schema.ts';
import { type CoverageReport, junitOf } from '../resources/coverage/api.ts';
import type { OrganizationRow } from '../resources/organizations/table.ts';
import { snapshotType } from '../snapshots/format.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendJson, sendSnapshot, sendText } from './send.ts';
import { type Admission, asksFor, listBody } from './serve.ts';
import { compileBody, compileQuery } from './validate.ts';

/** What the operator can do; the request is named in the trail of what it does. */
export interface OperatorActions {
  organizations(afterId: string | undefined, limit: number): Promise<readonly OrganizationRow[]>;
  createTenant(request: Asking, asked: TenantBody): Promise<Answer | Refusal>;
  delete(request: Asking, orgId: string): Promise<Answer | Refusal>;
  createKey(request: Asking, orgId: string, asked: KeyBody): Promise<Answer | Refusal>;
  reset(request: Asking, orgId: string): Promise<Answer | Refusal>;
  snapshot(request: Asking, orgId: string, hasSecrets: boolean): Promise<Readable | Answer | Refusal>;
  importSnapshot(
    request: Asking,
    bytes: AsyncIterable<Uint8Array>,
    fork: { readonly name: string | undefined } | undefined,
  ): Promise<Presented | Refusal>;
  fork(request: Asking, orgId: string, asked: OperatorForkBody): Promise<Presented | Refusal>;
}

type Asking = Pick<FastifyRequest, 'id' | 'ip'>;

export interface OperatorSettings {
  /** Without one there is no operator API. */
  readonly token: string | undefined;
  readonly actions: OperatorActions;
  /** What these organizations have met of all there is. */
  readonly coverage: (orgIds: readonly string[] | 'all') => Promise<CoverageReport>;
}

interface TenantBody {
  readonly name: string;
  readonly application?: { readonly name: string };
  readonly scopes?: readonly Scope[];
  readonly keyName?: string;
  readonly mayReset?: boolean;
  readonly expiresAt?: string;
}

interface OperatorForkBody {
  readonly name: string;
  readonly expiresAt?: string;
}

interface KeyBody {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly applicationId?: string;
  readonly mayReset?: boolean;
}

const prefix = '/_operator/';
const bearer = /^Bearer +(\S+)$/i;
const jsonlType = /^application\/jsonl *(; *charset="?utf-8"? *)?$/i;
const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;

const Name = text(limits.nameLengthMax);
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true });
const Tenant = strict({
  name: Name,
  application: Type.Optional(strict({ name: Name })),
  scopes: Type.Optional(Scopes),
  keyName: Type.Optional(Name),
  mayReset: Type.Optional(Type.Boolean()),
  expiresAt: Type.Optional(Time),
});
const Fork = strict({ name: Name, expiresAt: Type.Optional(Time) });
const Key = strict({
  name: Name,
  scopes: Type.Optional(Scopes),
  applicationId: Type.Optional(id('application')),
  mayReset: Type.Optional(Type.Boolean()),
});

const organizationsMax = 1_000;
const CoverageQuery = strict({
  organizationId: Type.Optional(
    Type.Union([id('organization'), Type.Array(id('organization'), { maxItems: organizationsMax })]),
  ),
});

const Switch = Type.Enum(['true', 'false']);
const SnapshotQuery = strict({ secrets: Type.Optional(Switch) });
const ImportQuery = strict({ fork: Type.Optional(Switch), name: Type.Optional(Name) });

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
  /** The body is a snapshot, which is read as it comes. */
  readonly takesSnapshot?: true;
  readonly handle: (asked: Handled) => Promise<OperatorAnswer>;
}

type OperatorAnswer = Answer | PresentedPage | Presented | CoverageReport | TextAnswer | Readable | Refusal;

/**
 * What only whoever runs the server may do: make organizations, look at them from outside, empty them. It stands beside the
 * API and not in it: it takes the token of the server instead of a key, and no Idempotency-Key.
 */
export function addOperator(app: FastifyInstance, settings: OperatorSettings): void {
  const { token } = settings;
  if (token === undefined) return;
  const expected = digest(token);
  const admit = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const given = bearer.exec(request.headers.authorization ?? '')?.[1];
    const isOperator = given !== undefined && timingSafeEqual(digest(given), expected);
    done(isOperator ? undefined : new Refused(refuse('operator_token_invalid')));
  };
  // In a scope of its own: nowhere else is a body anything but JSON.
  app.register((scope, _options, done) => {
    scope.addContentTypeParser(snapshotType, (_request, body, parsed) => parsed(null, body));
    for (const route of routesOf(settings)) addRoute(scope, route, admit);
    done();
  });
}

function addRoute(app: FastifyInstance, route: OperatorRoute, admit: Admission): void {
  const { method, path, takesSnapshot, handle } = route;
  const checkQuery = compileQuery(route.query ?? strict({}));
  const checkBody = compileBody(route.body ?? strict({}));
  app.route({
    method,
    url: prefix + path,
    onRequest: (request, reply, done) => {
      admit(request, reply, (error) =>
        done(
          error ?? (isReadable(request, route) ? undefined : new Refused(refuse('unsupported_media_type'))),
        ),
      );
    },
    handler: async (request, reply) => {
      const query = { ...(request.query as Record<string, unknown>) };
      const body = request.body ?? {};
      const refusal =
        checkQuery(query) ?? (method === 'POST' && !takesSnapshot ? checkBody(body) : undefined);
      if (refusal) throw new Refused(refusal);
      const params = request.params as Record<string, string>;
      return send(reply, await handle({ request, params, body, query }));
    },
  });
}

/** Whether the body is of the one type that the route takes. None at all is an empty object, but no snapshot. */
function isReadable({ headers }: FastifyRequest, { method, takesSnapshot }: OperatorRoute): boolean {
  const type = headers['content-type'];
  if (method === 'GET') return true;
  if (headers['content-encoding'] !== undefined) return false;
  return takesSnapshot ? jsonlType.test(type ?? '') : type === undefined || jsonType.test(type);
}

function routesOf({ actions, coverage }: OperatorSettings): readonly OperatorRoute[] {
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
    {
      method: 'POST',
      path: 'organizations/:id/delete',
      handle: ({ request, params }) => actions.delete(request, params.id ?? ''),
    },
    {
      method: 'GET',
      path: 'organizations/:id/snapshot',
      query: SnapshotQuery,
      handle: ({ request, params, query }) =>
        actions.snapshot(request, params.id ?? '', query.secrets === 'true'),
    },
    {
      method: 'POST',
      path: 'organizations/:id/fork',
      body: Fork,
      handle: ({ request, params, body }) => actions.fork(request, params.id ?? '', body as OperatorForkBody),
    },
    {
      method: 'GET',
      path: 'coverage',
      query: CoverageQuery,
      handle: async ({ request, query }) => {
        const asked = query.organizationId as string | readonly string[] | undefined;
        const report = await coverage(asked === undefined ? 'all' : [asked].flat());
        if (!asksFor(request.headers.accept, 'application/xml')) return report;
        return { contentType: 'application/xml', text: junitOf(report), headers: {} };
      },
    },
    {
      method: 'POST',
      path: 'snapshots',
      query: ImportQuery,
      takesSnapshot: true,
      handle: async ({ request, body, query }) => {
        const { fork, name } = query as { fork?: string; name?: string };
        if (fork !== 'true' && name !== undefined)
          return refuse('invalid_request', {
            message: 'A name can be chosen for a fork alone: send fork=true as well.',
            param: 'name',
          });
        return actions.importSnapshot(
          request,
          body as AsyncIterable<Uint8Array>,
          fork === 'true' ? { name } : undefined,
        );
      },
    },
  ];
}

function presentOrganization({ id: orgId, name, status, createdAt, expiresAt }: OrganizationRow) {
  return {
    object: 'organization',
    sandbox: true,
    status,
    id: orgId,
    name,
    createdAt: instantToText(createdAt),
    expiresAt: expiresAt === null ? null : instantToText(expiresAt),
  } as const;
}

function send(reply: FastifyReply, answer: OperatorAnswer): FastifyReply {
  const { id: requestId } = reply.request;
  if (answer instanceof Readable) return sendSnapshot(reply, answer);
  if ('ok' in answer) throw new Refused(answer as Refusal);
  if ('contentType' in answer) return sendText(reply, answer as TextAnswer);
  if ('object' in answer) {
    const isMade = reply.request.method === 'POST';
    return sendJson(reply, isMade ? 201 : 200, resourceBody(answer, requestId));
  }
  return 'data' in answer
    ? sendJson(reply, 200, listBody(answer as PresentedPage, requestId))
    : sendAnswer(reply, answer as Answer);
}

/** Compared by their hashes, which have one length and tell nothing of where two tokens differ. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
