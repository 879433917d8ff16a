import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';
import type { AppSettings } from './app.ts';
import { Authenticator, type Caller, refuseCaller, refuseScope } from './auth.ts';
import { Refused } from './refused.ts';
import { refuseHeaders, type Serving } from './serve.ts';

export interface ApiRoutes {
  /** The methods that a path knows, for 405. */
  readonly methodsOf: (path: string) => readonly string[];
}

const prefix = '/_api/';

/** Serves the route table to the holders of keys. */
export function addApiRoutes(settings: AppSettings, serving: Serving): ApiRoutes {
  const { reader, wallClock } = settings;
  const authenticator = new Authenticator(reader);
  settings.faults.watch((appId) => authenticator.forget(appId));

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
    const unfit = refuseCaller(
      caller,
      { ip: request.ip, organization: request.headers['sandbank-organization'] },
      now,
    );
    if (unfit) return unfit;
    const taken = settings.rateLimiter?.take(caller.principal.actor.id, now);
    if (taken) reply.headers(taken.headers);
    return taken?.refusal ?? refuseScope(caller.principal, route.scope) ?? refuseHeaders(request, route);
  }

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

  for (const route of settings.routes) serving.add(route, fastifyPath(route), onRequest(route));
  return { methodsOf: methodsOf(settings.routes) };
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
