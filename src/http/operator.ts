import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { Answer, Erased } from '../kernel/command.ts';
import { type Presented, resourceBody } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { type Id, idFrom } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { decodeCursor, instantToText, pageOf } from '../kernel/list.ts';
import { scopes } from '../kernel/permissions.ts';
import type { PresentedPage, TextAnswer } from '../kernel/route.ts';
import { id, pageQuery, strict, Time, text } from '../kernel/schema.ts';
import { type CoverageReport, junitOf } from '../resources/coverage/api.ts';
import type { OrganizationRow } from '../resources/organizations/table.ts';
import { snapshotType } from '../snapshots/format.ts';
import { Refused } from './refused.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendJson, sendSnapshot, sendText } from './send.ts';
import { type Admission, acceptsExplicitly, listBody } from './serve.ts';
import { compileBody, compileQuery } from './validate.ts';

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
  // True by default: the organization was created together with the key.
  mayReset: Type.Optional(Type.Boolean()),
  expiresAt: Type.Optional(Time),
});
const Fork = strict({ name: Name, expiresAt: Type.Optional(Time) });
const Key = strict({
  name: Name,
  scopes: Type.Optional(Scopes),
  applicationId: Type.Optional(id('application')),
  // False by default.
  mayReset: Type.Optional(Type.Boolean()),
});

export type TenantBody = Static<typeof Tenant>;
export type OperatorForkBody = Static<typeof Fork>;
export type KeyBody = Static<typeof Key>;

/** The actions of the operator. The audit trail names the request that triggered each one. */
export interface OperatorActions {
  organizations(afterId: string | undefined, limit: number): Promise<readonly OrganizationRow[]>;
  createTenant(request: OperatorRequest, body: TenantBody): Promise<Answer | Refusal>;
  delete(request: OperatorRequest, orgId: Id<'organization'>): Promise<Answer | Refusal>;
  createKey(request: OperatorRequest, orgId: Id<'organization'>, body: KeyBody): Promise<Answer | Refusal>;
  reset(request: OperatorRequest, orgId: Id<'organization'>): Promise<Answer | Refusal>;
  snapshot(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    hasSecrets: boolean,
  ): Promise<Readable | Answer | Refusal>;
  importSnapshot(
    request: OperatorRequest,
    bytes: AsyncIterable<Uint8Array>,
    fork: { readonly name: string | undefined } | undefined,
  ): Promise<Presented | Refusal>;
  fork(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    body: OperatorForkBody,
  ): Promise<Presented | Refusal>;
}

/** The parts of an operator request that the audit trail records. */
export interface OperatorRequest {
  readonly id: Id<'request'>;
  readonly ip: string;
}

const operatorRequestOf = (request: FastifyRequest): OperatorRequest => ({
  id: requestIdOf(request),
  ip: request.ip,
});

export interface OperatorSettings {
  /** Without a token there is no operator API. */
  readonly token: string | undefined;
  readonly actions: OperatorActions;
  /** The coverage report of these organizations. */
  readonly coverage: (orgIds: readonly string[] | 'all') => Promise<CoverageReport>;
}

const organizationsMax = 1_000;
const CoverageQuery = strict({
  organizationId: Type.Optional(
    Type.Union([id('organization'), Type.Array(id('organization'), { maxItems: organizationsMax })]),
  ),
});

const Switch = Type.Enum(['true', 'false']);
const SnapshotQuery = strict({ secrets: Type.Optional(Switch) });
const ImportQuery = strict({ fork: Type.Optional(Switch), name: Type.Optional(Name) });

interface HandlerInput<Body = unknown> {
  readonly request: FastifyRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Readonly<Record<string, unknown>>;
}

interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** The body is a snapshot, which is read as a stream. */
  readonly takesSnapshot?: true;
  readonly handle: (input: HandlerInput<Erased>) => Promise<OperatorAnswer>;
}

/** A write whose handler receives the body with the type of its schema. */
function operatorWrite<Body extends TSchema>(
  path: string,
  body: Body,
  handle: (input: HandlerInput<Static<Body>>) => Promise<OperatorAnswer>,
): OperatorRoute {
  return { method: 'POST', path, body, handle };
}

type OperatorAnswer = Answer | PresentedPage | Presented | CoverageReport | TextAnswer | Readable | Refusal;

/**
 * The operator API, for the person who runs the server: create, list, reset and delete organizations, and export or import
 * snapshots. It is separate from the public API: it uses the operator token instead of an API key, and no Idempotency-Key.
 */
export function addOperator(app: FastifyInstance, settings: OperatorSettings): void {
  const { token } = settings;
  if (token === undefined) return;
  const expected = digest(token);
  const admit = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const requestToken = bearer.exec(request.headers.authorization ?? '')?.[1];
    const isOperator = requestToken !== undefined && timingSafeEqual(digest(requestToken), expected);
    done(isOperator ? undefined : new Refused(refuse('operator_token_invalid')));
  };
  // In its own scope, because all other routes accept only JSON bodies.
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

/** Whether the body has the content type of the route. A missing body counts as an empty object, but not as a snapshot. */
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
    operatorWrite('organizations', Tenant, ({ request, body }) =>
      actions.createTenant(operatorRequestOf(request), body),
    ),
    operatorWrite('organizations/:id/keys', Key, ({ request, params, body }) =>
      actions.createKey(operatorRequestOf(request), idFrom('organization', params.id), body),
    ),
    {
      method: 'POST',
      path: 'organizations/:id/reset',
      handle: ({ request, params }) =>
        actions.reset(operatorRequestOf(request), idFrom('organization', params.id)),
    },
    {
      method: 'POST',
      path: 'organizations/:id/delete',
      handle: ({ request, params }) =>
        actions.delete(operatorRequestOf(request), idFrom('organization', params.id)),
    },
    {
      method: 'GET',
      path: 'organizations/:id/snapshot',
      query: SnapshotQuery,
      handle: ({ request, params, query }) =>
        actions.snapshot(
          operatorRequestOf(request),
          idFrom('organization', params.id),
          query.secrets === 'true',
        ),
    },
    operatorWrite('organizations/:id/fork', Fork, ({ request, params, body }) =>
      actions.fork(operatorRequestOf(request), idFrom('organization', params.id), body),
    ),
    {
      method: 'GET',
      path: 'coverage',
      query: CoverageQuery,
      handle: async ({ request, query }) => {
        const orgIds = query.organizationId as string | readonly string[] | undefined;
        const report = await coverage(orgIds === undefined ? 'all' : [orgIds].flat());
        if (!acceptsExplicitly(request.headers.accept, 'application/xml')) return report;
        return { contentType: 'application/xml', text: junitOf(report), headers: {} };
      },
    },
    {
      method: 'POST',
      path: 'snapshots',
      query: ImportQuery,
      takesSnapshot: true,
      handle: async ({ request, body, query }: HandlerInput<AsyncIterable<Uint8Array>>) => {
        const { fork, name } = query as { fork?: string; name?: string };
        if (fork !== 'true' && name !== undefined)
          return refuse('invalid_request', {
            message: 'A name is only allowed for a fork. Send fork=true as well.',
            param: 'name',
          });
        return actions.importSnapshot(
          operatorRequestOf(request),
          body,
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
    const isCreated = reply.request.method === 'POST';
    return sendJson(reply, isCreated ? 201 : 200, resourceBody(answer, requestId));
  }
  return 'data' in answer
    ? sendJson(reply, 200, listBody(answer as PresentedPage, requestId))
    : sendAnswer(reply, answer as Answer);
}

/** Tokens are compared by hash: hashes have equal length and do not reveal where two tokens differ. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
