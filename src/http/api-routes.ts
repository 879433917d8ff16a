import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refusedCommand, type Submission } from '../engine/submission.ts';
import { type Presented, resourceBody } from '../kernel/envelope.ts';
import { type ErrorCode, type Refusal, refuse, statusOf } from '../kernel/errors.ts';
import { idPrefixes } from '../kernel/ids.ts';
import type {
  Awaitable,
  PresentedPage,
  Principal,
  ReadAnswer,
  ReadRoute,
  Route,
  TextAnswer,
  WriteRoute,
} from '../kernel/route.ts';
import { ExpandQuery, strict } from '../kernel/schema.ts';
import { apiVersions } from '../kernel/version.ts';
import { type AppSettings, pathOf } from './app.ts';
import { Authenticator, type Caller, refuseCaller, refuseScope } from './auth.ts';
import { claim, readIdempotencyKey } from './idempotency.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendJson, sendRefusal, sendText } from './send.ts';
import { compileBody, compileQuery } from './validate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    idempotencyKey: string;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

export interface ApiRoutes {
  /** The methods that a path knows, for 405. */
  readonly methodsOf: (path: string) => readonly string[];
  /** Renders a refusal, after the audit trail has it. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
  ) => FastifyReply | Promise<FastifyReply>;
}

const prefix = '/_api/';
const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;
// Shedding load must stay cheap, and our own failures are in the log.
const unaudited: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'internal_error', 'service_unavailable']);

/**
 * Turns the route table into handlers. The order of checks is that of the contract: route, key, scope, headers, body,
 * existence, state, meaning; the last three are the machine's.
 */
export function addApiRoutes(app: FastifyInstance, settings: AppSettings): ApiRoutes {
  const { engine, reader, wallClock } = settings;
  const authenticator = new Authenticator(reader);
  app.decorateRequest('principal', null);
  app.decorateRequest('idempotencyKey', '');

  function submission(
    request: FastifyRequest,
    principal: Principal,
    kind: Submission['kind'],
    input: unknown,
    idempotency: Submission['idempotency'],
  ): Submission {
    const now = wallClock();
    return {
      kind,
      input,
      idempotency,
      wallNow: now,
      context: {
        orgId: principal.orgId,
        appId: principal.appId,
        terms: principal.terms,
        actor: { kind: 'api_key', id: principal.keyId },
        requestId: request.id,
        ip: request.ip,
        suffix: request.id.slice(idPrefixes.request.length + 1),
      },
    };
  }

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route,
    caller: Caller | Refusal,
  ): Refusal | undefined {
    if ('ok' in caller) return caller;
    const now = wallClock();
    request.principal = caller.principal;
    const unfit = refuseCaller(
      caller,
      { ip: request.ip, organization: request.headers['sandbank-organization'] },
      now,
    );
    if (unfit) return unfit;
    const taken = settings.rateLimiter?.take(caller.principal.keyId, now);
    if (taken) reply.headers(taken.headers);
    return taken?.refusal ?? refuseScope(caller.principal, route.scope) ?? refuseHeaders(request, route);
  }

  /** Runs before the body is read, so that a caller without rights cannot make the server read one. */
  function onRequest(route: Route) {
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      const proceed = (caller: Caller | Refusal) => {
        const refusal = admit(request, reply, route, caller);
        done(refusal ? new Refused(refusal) : undefined);
      };
      const caller = authenticator.find(request.headers.authorization, wallClock());
      if (caller instanceof Promise) caller.then(proceed).catch(done);
      else proceed(caller);
    };
  }

  function addWrite(route: WriteRoute): void {
    const checkBody = compileBody(route.body ?? strict({}));
    const checkQuery = compileQuery(route.expandsEntries ? ExpandQuery : strict({}));
    const isBodyOptional = route.isBodyOptional ?? !route.body;
    app.route({
      method: 'POST',
      url: fastifyPath(route),
      config: { route },
      onRequest: onRequest(route),
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const body = request.body === undefined && isBodyOptional ? {} : request.body;
        if (body === undefined)
          throw new Refused(refuse('invalid_request', { message: 'A JSON body is required.', param: '' }));
        const query = { ...(request.query as Record<string, unknown>) };
        const refusal = checkQuery(query) ?? checkBody(body);
        if (refusal) throw new Refused(refusal);
        const input = route.input({ params: request.params as Record<string, string>, body });
        const idempotency = claim(request.idempotencyKey, 'POST', pathOf(request), body);
        const submitted = submission(request, principal, route.command, input, idempotency);
        const expandsEntries = query.expand === 'ledgerEntries';
        const errand = settings.errands.get(route.command.name);
        const answer = await (errand?.(submitted) ?? engine.submit({ ...submitted, expandsEntries }));
        return sendAnswer(reply, answer);
      },
    });
  }

  function addRead(route: ReadRoute): void {
    const checkQuery = compileQuery(route.query ?? strict({}));
    app.route({
      method: 'GET',
      url: fastifyPath(route),
      config: { route },
      onRequest: onRequest(route),
      handler: (request, reply) => {
        const principal = principalOf(request);
        const query = { ...(request.query as Record<string, unknown>) };
        const refusal = checkQuery(query);
        if (refusal) throw new Refused(refusal);
        const params = request.params as Record<string, string>;
        const answer = route.read({
          principal,
          params,
          query,
          now: wallClock(),
          reader,
          accepts: (type) => asksFor(request.headers.accept, type),
        });
        // Without an async function: at twenty thousand reads a second its promises are a tenth of the work.
        if (!isPending(answer)) sendRead(reply, answer);
        else
          answer.then((read) => sendRead(reply, read)).then(undefined, (error: unknown) => reply.send(error));
      },
    });
  }

  for (const route of settings.routes) {
    if (route.method === 'POST') addWrite(route);
    else addRead(route);
  }

  return {
    methodsOf: methodsOf(settings.routes),
    refuse: async (request, reply, refusal) => {
      const docsUrl = `${settings.publicUrl()}/docs`;
      const { principal } = request;
      const route = request.routeOptions.config.route;
      if (!principal || !route || !isAudited(route, refusal.code))
        return sendRefusal(reply, refusal, docsUrl);
      const kind = refusedCommand(route.method === 'POST' ? route.command.name : route.operationId, refusal);
      return sendAnswer(reply, await engine.submit(submission(request, principal, kind, undefined, null)));
    },
  };
}

/** Every refused write is audited, and of the reads those that a key had no right to. */
function isAudited(route: Route, code: ErrorCode): boolean {
  if (unaudited.has(code)) return false;
  const status = statusOf(code);
  return route.method === 'POST' || status === 401 || status === 403;
}

function refuseHeaders(request: FastifyRequest, route: Route): Refusal | undefined {
  const version = request.headers['api-version'];
  if (version !== undefined && (typeof version !== 'string' || !apiVersions.includes(version))) {
    return refuse('unsupported_api_version', { param: 'Api-Version', details: { supported: apiVersions } });
  }
  if (route.method === 'GET') return undefined;
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  if (!key.ok) return key;
  request.idempotencyKey = key.key;
  const type = request.headers['content-type'];
  const encoding = request.headers['content-encoding'];
  const isReadable =
    (type === undefined || jsonType.test(type)) && (encoding === undefined || encoding === 'identity');
  return isReadable ? undefined : refuse('unsupported_media_type');
}

function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('a route was served without its key check');
  return request.principal;
}

function isPending(answer: Awaitable<ReadAnswer>): answer is PromiseLike<ReadAnswer> {
  return 'then' in answer && typeof answer.then === 'function';
}

function isRefusal(answer: ReadAnswer): answer is Refusal {
  return 'ok' in answer && answer.ok === false;
}

function isText(answer: Exclude<ReadAnswer, Refusal>): answer is TextAnswer {
  return 'contentType' in answer;
}

function isPage(answer: Presented | PresentedPage): answer is PresentedPage {
  return !('object' in answer);
}

/** JSON is the form of every answer; another one must be named, and not be turned down by its weight. */
function asksFor(accept: string | undefined, type: string): boolean {
  return (accept ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === type && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });
}

function sendRead(reply: FastifyReply, answer: ReadAnswer): FastifyReply {
  if (isRefusal(answer)) return reply.send(new Refused(answer));
  if (isText(answer)) return sendText(reply, answer);
  const { id } = reply.request;
  return sendJson(reply, 200, isPage(answer) ? listBody(answer, id) : resourceBody(answer, id));
}

function listBody({ data, hasMore, nextCursor }: PresentedPage, requestId: string): string {
  return JSON.stringify({
    object: 'list',
    sandbox: true,
    requestId,
    status: 'ok',
    data,
    hasMore,
    nextCursor,
  });
}

function fastifyPath({ path }: Route): string {
  return prefix + path.replace(/\{(\w+)\}/g, ':$1');
}

function methodsOf(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const known = patterns.get(path) ?? {
      pattern: new RegExp(`^${prefix}${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: new Set(),
    };
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD');
    patterns.set(path, known);
  }
  return (path) =>
    [...patterns.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : []));
}
