import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refusedCommand, type Submission } from '../engine/submission.ts';
import { apiVersions, type Presented, resourceBody } from '../kernel/envelope.ts';
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
import { RequestFaults } from './faults.ts';
import { claim, readIdempotencyKey } from './idempotency.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendJson, sendRefusal, sendText } from './send.ts';
import type { HttpSettings } from './settings.ts';
import { assertTarget, pathOf, targetOf } from './target.ts';
import { compileBody, compileQuery } from './validate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    idempotencyKey: string;
    /** The operation that the path and the method name. */
    operation: string;
  }
  interface FastifyContextConfig {
    route?: ServedRoute | ApiStreamRoute;
  }
}

/** Whoever admits callers runs this before the body is read, so that a caller without rights cannot make the server read one. */
export type Admission = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

export interface Serving {
  readonly add: (route: ServedRoute, url: string, admit: Admission) => void;
  /** For routes that answer by themselves: lets fault plans hit the request. True when it has ended by that. */
  readonly injectFault: RequestFaults['inject'];
  /** Renders a refusal, after the audit trail has it. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
  ) => FastifyReply | Promise<FastifyReply>;
}

const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;
// Shedding load must stay cheap, and our own failures are in the log.
const unaudited: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'internal_error', 'service_unavailable']);

/**
 * Turns rows of a route table into handlers, for keys and for people alike: what differs is who is admitted. The order of
 * checks is that of the contract: route, caller, right, headers, body, existence, state, meaning; the last three are the
 * machine's.
 */
export function createServing(app: FastifyInstance, settings: HttpSettings): Serving {
  const { engine, reader, wallClock } = settings;
  app.decorateRequest('principal', null);
  app.decorateRequest('idempotencyKey', '');
  app.decorateRequest('operation', '');
  const faults = new RequestFaults(app, settings.faults, settings.docsUrl);

  function submission(
    request: FastifyRequest,
    principal: Principal,
    route: ServedRoute | ApiStreamRoute,
    kind: Submission['kind'],
    input: unknown,
    idempotency: Submission['idempotency'],
  ): Submission {
    const now = wallClock();
    return {
      kind,
      input,
      idempotency,
      target: targetOf(route, request, principal),
      wallNow: now,
      context: {
        orgId: principal.orgId,
        appId: principal.appId || null,
        settings: principal.settings,
        actor: principal.actor,
        requestId: request.id,
        ip: request.ip,
        suffix: request.id.slice(idPrefixes.request.length + 1),
      },
    };
  }

  function addWrite(route: ServedRoute & WriteRoute, url: string, admit: Admission): void {
    assertTarget(route);
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
        const query = { ...(request.query as Record<string, unknown>) };
        const refusal = checkQuery(query) ?? checkBody(body);
        if (refusal) throw new Refused(refusal);
        if (request.faultPlans !== null && (await faults.inject(request, reply, route))) return reply;
        const input = route.input({ principal, params: request.params as Record<string, string>, body });
        const idempotency = claim(request.idempotencyKey, 'POST', pathOf(request), body);
        const submitted = submission(request, principal, route, route.command, input, idempotency);
        const expandsEntries = query.expand === 'ledgerEntries';
        const errand = settings.errands.get(route.command.name);
        const answer = await (errand?.(submitted) ?? engine.submit({ ...submitted, expandsEntries }));
        return sendAnswer(reply, answer);
      },
    });
  }

  function addRead(route: ServedRoute & ReadRoute, url: string, admit: Admission): void {
    const checkQuery = compileQuery(route.query ?? strict({}));
    const settle = route.flushBefore && settings.writtenBehind[route.flushBefore];
    app.route({
      method: 'GET',
      url,
      config: { route },
      onRequest: admit,
      handler: (request, reply) => {
        const principal = principalOf(request);
        const query = { ...(request.query as Record<string, unknown>) };
        const refusal = checkQuery(query);
        if (refusal) throw new Refused(refusal);
        const asked: ReadRequest = {
          principal,
          params: request.params as Record<string, string>,
          query,
          now: wallClock(),
          reader,
          accepts: (type) => asksFor(request.headers.accept, type),
        };
        const read = () => {
          const answer = settle ? settle().then(() => route.read(asked)) : route.read(asked);
          if (!isPending(answer)) sendRead(reply, answer);
          else
            answer
              .then((found) => sendRead(reply, found))
              .then(undefined, (error: unknown) => reply.send(error));
        };
        // Without an async function: at twenty thousand reads a second its promises are a tenth of the work.
        if (request.faultPlans === null) return read();
        faults
          .inject(request, reply, route)
          .then((isOver) => (isOver ? undefined : read()))
          .catch((error: unknown) => reply.send(error));
      },
    });
  }

  /** Where ids come from a seed, a request is counted once it is known whose it is. */
  function named(admit: Admission): Admission {
    if (!engine.idGenerator.isSeeded) return admit;
    return (request, reply, done) =>
      admit(request, reply, (error) => {
        const kind = request.method === 'POST' ? 'write' : 'read';
        if (request.principal)
          request.id = formatId('request', engine.idGenerator.request(request.principal.orgId, kind));
        done(error);
      });
  }

  return {
    add: (route, url, admission) => {
      const admit = named(admission);
      if (route.method === 'POST') addWrite(route, url, admit);
      else addRead(route, url, admit);
    },
    injectFault: (request, reply, route) => faults.inject(request, reply, route),
    refuse: async (request, reply, refusal) => {
      const { principal } = request;
      const route = request.routeOptions.config.route;
      if (!principal || !route || !isAudited(route, refusal.code))
        return sendRefusal(reply, refusal, settings.docsUrl());
      const kind = refusedCommand(route.method === 'POST' ? route.command.name : route.operationId, refusal);
      return sendAnswer(
        reply,
        await engine.submit(submission(request, principal, route, kind, undefined, null)),
      );
    },
  };
}

/** Every refused write is audited, and of the reads those that a key had no right to. */
function isAudited(route: ServedRoute | ApiStreamRoute, code: ErrorCode): boolean {
  if (unaudited.has(code)) return false;
  const status = statusOf(code);
  return route.method === 'POST' || status === 401 || status === 403;
}

/** The checks on what comes with a request besides who sends it. */
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
  if (!request.principal) throw new Error('a route was served without a look at who asks');
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
export function asksFor(accept: string | undefined, type: string): boolean {
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

export function listBody({ data, hasMore, nextCursor }: PresentedPage, requestId: string): string {
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
