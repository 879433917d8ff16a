import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { submitPrepared } from '../engine/prepared.ts';
import { refusedCommand } from '../engine/submission.ts';
import type { CommandRequest, IdempotencyClaim } from '../kernel/command.ts';
import { apiVersions, jsonOf, type Presented, RenderedResource, resourceBody } from '../kernel/envelope.ts';
import { type ErrorCode, type Refusal, refuse, statusOf } from '../kernel/errors.ts';
import { formatId, idPrefixes } from '../kernel/ids.ts';
import type {
  ApiStreamRoute,
  Awaitable,
  PresentedPage,
  Principal,
  ReadAnswer,
  ReadRequest,
  ReadRoute,
  ServedRoute,
  TextAnswer,
  WriteRoute,
} from '../kernel/route.ts';
import { ExpandQuery, strict } from '../kernel/schema.ts';
import type { ConsoleAnswer } from './console-answers.ts';
import { RequestFaults } from './faults.ts';
import { claim, readIdempotencyKey } from './idempotency.ts';
import { isAuditedCode } from './refusal-trail.ts';
import { Refused } from './refused.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendJson, sendRefusal, sendText } from './send.ts';
import type { HttpSettings } from './settings.ts';
import { assertTarget, pathOf, targetOf } from './target.ts';
import { compileBody, compileQuery } from './validate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    idempotencyKey: string;
    /** The operation id of the route. */
    operation: string;
  }
  interface FastifyContextConfig {
    route?: ServedRoute | ApiStreamRoute;
    /** What a console route outside the route tables answers with. */
    answer?: ConsoleAnswer;
  }
}

/** Authenticates and authorizes a request before its body is read, so that the server reads no body of a rejected caller. */
export type Admission = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

export interface Serving {
  readonly add: (route: ServedRoute, url: string, admit: Admission) => void;
  /** For routes with their own handler: injects faults. Returns true when a fault ended the request. */
  readonly injectFault: RequestFaults['inject'];
  /** Records a refusal in the audit trail, then sends it. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
  ) => FastifyReply | Promise<FastifyReply>;
}

const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;

interface Parts {
  readonly app: FastifyInstance;
  readonly settings: HttpSettings;
  readonly faults: RequestFaults;
}

/**
 * Creates handlers from a route table, for keys and for people; only the admission differs. The order of checks is part of the
 * contract: route, caller, permission, headers, body, existence, state, semantics. The state machine does the last three.
 */
export function createServing(app: FastifyInstance, settings: HttpSettings): Serving {
  app.decorateRequest('principal', null);
  app.decorateRequest('idempotencyKey', '');
  app.decorateRequest('operation', '');
  const faults = new RequestFaults(app, settings.faults, settings.docsUrl);
  const parts: Parts = { app, settings, faults };
  return {
    add: (route, url, admission) => {
      const admit = withSeededId(settings, admission);
      if (route.method === 'POST') addWrite(parts, route, url, admit);
      else addRead(parts, route, url, admit);
    },
    injectFault: (request, reply, route) => faults.inject(request, reply, route),
    refuse: async (request, reply, refusal) => {
      const { principal } = request;
      const route = request.routeOptions.config.route;
      if (!principal || !route || !isAudited(route, refusal.code))
        return sendRefusal(reply, refusal, settings.docsUrl());
      const kind = refusedCommand(route.method === 'POST' ? route.command.name : route.operationId, refusal);
      const submission = commandRequest(settings, request, principal, route, null);
      return sendAnswer(reply, await settings.engine.submit({ ...submission, kind, input: undefined }));
    },
  };
}

/**
 * The caller, target and idempotency key of a command. All fields are listed, because a literal with a spread is much slower to
 * fill (13 µs against 2 in the request log).
 */
function commandRequest(
  { wallClock }: HttpSettings,
  request: FastifyRequest,
  principal: Principal,
  route: ServedRoute | ApiStreamRoute,
  idempotency: IdempotencyClaim | null,
  expandsEntries = false,
): CommandRequest {
  return {
    context: {
      orgId: principal.orgId,
      appId: principal.appId || null,
      settings: principal.settings,
      actor: principal.actor,
      requestId: requestIdOf(request),
      ip: request.ip,
      suffix: request.id.slice(idPrefixes.request.length + 1),
    },
    idempotency,
    target: targetOf(route, request, principal),
    expandsEntries,
    wallNow: wallClock(),
  };
}

function addWrite(
  { app, settings, faults }: Parts,
  route: ServedRoute & WriteRoute,
  url: string,
  admit: Admission,
): void {
  assertTarget(route);
  const { engine, ports } = settings;
  const { command, prepare } = route;
  const checkBody = compileBody(route.body ?? strict({}));
  const checkQuery = compileQuery(route.expandsEntries ? ExpandQuery : strict({}));
  const isBodyOptional = route.isBodyOptional ?? !route.body;
  app.route({
    method: 'POST',
    url,
    config: { route },
    onRequest: admit,
    handler: async (request, reply) => {
      const principal = principalOf(request);
      const body = request.body === undefined && isBodyOptional ? {} : request.body;
      if (body === undefined)
        throw new Refused(refuse('invalid_request', { message: 'A JSON body is required.', param: '' }));
      const query = queryOf(request);
      const refusal = checkQuery(query) ?? checkBody(body);
      if (refusal) throw new Refused(refusal);
      if (request.faultPlans !== null && (await faults.inject(request, reply, route))) return reply;
      const input = route.input({ principal, params: request.params as Record<string, string>, body });
      const idempotency = claim(request.idempotencyKey, 'POST', pathOf(request), body);
      const expandsEntries = query.expand === 'ledgerEntries';
      const submitted = commandRequest(settings, request, principal, route, idempotency, expandsEntries);
      const { context, target = null, wallNow } = submitted;
      const answer = await (prepare
        ? submitPrepared(engine, ports, { command, prepare }, input, submitted)
        : engine.submit({ context, idempotency, target, expandsEntries, wallNow, kind: command, input }));
      return sendAnswer(reply, answer);
    },
  });
}

function addRead(
  { app, settings, faults }: Parts,
  route: ServedRoute & ReadRoute,
  url: string,
  admit: Admission,
): void {
  const { reader, wallClock } = settings;
  const checkQuery = compileQuery(route.query ?? strict({}));
  const flush = route.flushBefore && settings.writtenBehind[route.flushBefore];
  app.route({
    method: 'GET',
    url,
    config: { route },
    onRequest: admit,
    handler: (request, reply) => {
      const principal = principalOf(request);
      const query = queryOf(request);
      const refusal = checkQuery(query);
      if (refusal) throw new Refused(refusal);
      const readRequest: ReadRequest = {
        principal,
        params: request.params as Record<string, string>,
        query,
        now: wallClock(),
        reader,
        accepts: (type) => acceptsExplicitly(request.headers.accept, type),
      };
      const read = () => {
        const answer = flush ? flush().then(() => route.read(readRequest)) : route.read(readRequest);
        if (!isPending(answer)) sendRead(reply, answer);
        else
          answer
            .then((readAnswer) => sendRead(reply, readAnswer))
            .then(undefined, (error: unknown) => reply.send(error));
      };
      // Not an async function: at 20,000 reads per second its promises would be a tenth of the work.
      if (request.faultPlans === null) return read();
      faults
        .inject(request, reply, route)
        .then((hasEnded) => (hasEnded ? undefined : read()))
        .catch((error: unknown) => reply.send(error));
    },
  });
}

/** With seeded ids, assigns the request id after admission, because it counts the requests of an organization. */
function withSeededId({ engine }: HttpSettings, admit: Admission): Admission {
  if (!engine.idGenerator.isSeeded) return admit;
  return (request, reply, done) =>
    admit(request, reply, (error) => {
      const kind = request.method === 'POST' ? 'write' : 'read';
      if (request.principal)
        request.id = formatId('request', engine.idGenerator.request(request.principal.orgId, kind));
      done(error);
    });
}

/** Audits every refused write, and reads that were refused for missing permissions. */
function isAudited(route: ServedRoute | ApiStreamRoute, code: ErrorCode): boolean {
  if (!isAuditedCode(code)) return false;
  const status = statusOf(code);
  return route.method === 'POST' || status === 401 || status === 403;
}

/** Checks the headers other than authentication: version, idempotency key and content type. */
export function refuseHeaders(
  request: FastifyRequest,
  route: Pick<ServedRoute | ApiStreamRoute, 'method'>,
): Refusal | undefined {
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

export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('route served without authentication');
  return request.principal;
}

/** A copy, in which the check replaces texts by numbers. */
function queryOf({ url, query }: FastifyRequest): Record<string, unknown> {
  return url.includes('?') ? { ...(query as Record<string, unknown>) } : {};
}

function isPending(answer: Awaitable<ReadAnswer>): answer is PromiseLike<ReadAnswer> {
  return 'then' in answer && typeof answer.then === 'function';
}

function isRefusal(answer: ReadAnswer): answer is Refusal {
  return 'ok' in answer && answer.ok === false;
}

function isText(answer: Exclude<ReadAnswer, Refusal | RenderedResource>): answer is TextAnswer {
  return 'contentType' in answer;
}

function isPage(answer: Presented | PresentedPage): answer is PresentedPage {
  return !('object' in answer);
}

/** Every response is available as JSON. Another type must be named in Accept, with a quality above 0. */
export function acceptsExplicitly(accept: string | undefined, type: string): boolean {
  return (accept ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === type && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });
}

function sendRead(reply: FastifyReply, answer: ReadAnswer): FastifyReply {
  const { id } = reply.request;
  if (answer instanceof RenderedResource) return sendJson(reply, 200, resourceBody(answer, id));
  if (isRefusal(answer)) return reply.send(new Refused(answer));
  if (isText(answer)) return sendText(reply, answer);
  return sendJson(reply, 200, isPage(answer) ? listBody(answer, id) : resourceBody(answer, id));
}

/** Joins the texts of the records, which are cached, instead of serializing them again. */
export function listBody({ data, hasMore, nextCursor }: PresentedPage, requestId: string): string {
  return (
    `{"object":"list","sandbox":true,"requestId":"${requestId}","status":"ok",` +
    `"data":[${data.map(jsonOf).join(',')}],"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}}`
  );
}
