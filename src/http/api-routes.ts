import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../kernel/errors.ts';
import { isStream, type Route } from '../kernel/route.ts';
import { Authenticator, type Caller, refuseCaller, refuseScope } from './auth.ts';
import { Refused } from './refused.ts';
import { refuseHeaders, type Serving } from './serve.ts';
import type { HttpSettings } from './settings.ts';
import { addKeyStream } from './stream-route.ts';

export interface ApiRoutes {
  /** The methods that a path supports, for 405. */
  readonly methodsOf: (path: string) => readonly string[];
}

const prefix = '/_api/';

/** Serves the route table to API keys. */
export function addApiRoutes(app: FastifyInstance, settings: HttpSettings, serving: Serving): ApiRoutes {
  const { reader, wallClock, uptime, streams } = settings;
  const authenticator = new Authenticator(reader);
  settings.faults.watch((appId) => authenticator.forget(appId));
  settings.engine.watch((committed) => authenticator.onCommit(committed));

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route,
    caller: Caller | Refusal,
  ): Refusal | undefined {
    if ('ok' in caller) return caller;
    const now = wallClock();
    request.principal = caller.principal;
    request.faultPlans = caller.faultPlans;
    const refusal = refuseCallerOf(request, caller, now);
    if (refusal) return refusal;
    const limit = settings.rateLimiter?.take(caller.principal.actor.id, uptime(), caller.principal.appId);
    if (limit) reply.headers(limit.headers);
    return limit?.refusal ?? refuseScope(caller.principal, route.scope) ?? refuseHeaders(request, route);
  }

  function onRequest(route: Route) {
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      request.operation = route.operationId;
      const proceed = (caller: Caller | Refusal) => {
        const refusal = admit(request, reply, route, caller);
        done(refusal ? new Refused(refusal) : undefined);
      };
      const caller = authenticator.find(request.headers.authorization, uptime());
      if (caller instanceof Promise) caller.then(proceed).catch(done);
      else proceed(caller);
    };
  }

  const isStillAdmitted = (route: Route) => async (request: FastifyRequest) => {
    const now = wallClock();
    const caller = await authenticator.find(request.headers.authorization, uptime());
    if ('ok' in caller) return false;
    return !refuseCallerOf(request, caller, now) && !refuseScope(caller.principal, route.scope);
  };

  for (const route of settings.routes) {
    const [path, admission] = [fastifyPath(route), onRequest(route)];
    if (isStream(route)) {
      const { requestLog, coverage } = settings;
      const { injectFault } = serving;
      const streamSettings = {
        streams,
        requestLog,
        coverage,
        injectFault,
        isStillAdmitted: isStillAdmitted(route),
      };
      addKeyStream(app, route, path, admission, streamSettings);
    } else serving.add(route, path, admission);
  }
  return { methodsOf: methodsOf(settings.routes) };
}

function refuseCallerOf({ ip, headers }: FastifyRequest, caller: Caller, now: number): Refusal | undefined {
  return refuseCaller(caller, { ip, organization: headers['sandbank-organization'] }, now);
}

function fastifyPath({ path }: Route): string {
  return prefix + path.replace(/\{(\w+)\}/g, ':$1');
}

function methodsOf(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const entry = patterns.get(path) ?? {
      pattern: new RegExp(`^${prefix}${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: new Set(),
    };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    patterns.set(path, entry);
  }
  return (path) => [
    ...new Set(
      [...patterns.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : [])),
    ),
  ];
}
