import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { People, Person, Visitor } from '../identity/people.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { isId, noApplication } from '../kernel/ids.ts';
import { isAtLeast, type Role, roleFor, scopesOf } from '../kernel/permissions.ts';
import {
  type ConsoleRoute,
  isStream,
  type Principal,
  type Route,
  type ServedRoute,
} from '../kernel/route.ts';
import type { Reader } from '../kernel/table.ts';
import { statusRoute } from '../resources/capabilities/status-api.ts';
import { memberIdOf } from '../resources/organizations/member-machine.ts';
import { findMemberContext } from '../resources/organizations/member-store.ts';
import { resetRoute } from '../resources/organizations/reset-api.ts';
import { refuseOrigin } from './console-origin.ts';
import type { RateLimitResult } from './rate-limit.ts';
import { Refused } from './refused.ts';
import { refuseHeaders, type Serving } from './serve.ts';

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | null;
    /** The session of the signed-in person. */
    sessionId: string;
  }
}

export interface ConsoleSettings {
  readonly people: People;
  readonly reader: Reader;
  readonly publicUrl: () => string;
  /** Takes a rate limit token of the signed-in person. */
  readonly limitPerson: (personId: string) => RateLimitResult | undefined;
  readonly routes: readonly Route[];
  readonly consoleRoutes: readonly ConsoleRoute[];
}

/** A route with its level and the role that a person needs for it. */
export interface PersonRoute {
  readonly route: ServedRoute;
  readonly level: ConsoleRoute['level'];
  readonly role: Role;
  /** Whether the route works on an archived application. */
  readonly allowsArchived: boolean;
}

export const consolePrefix = '/console/api/';

/** Routes about the key itself, and routes that the console replaces with its own. */
const keyOnlyRoutes: readonly Route[] = [statusRoute, resetRoute];

/**
 * All routes for people: the API routes, with a few exceptions, and the routes that only the console has. The event stream of
 * one application is not included, because the console streams the whole organization.
 */
export function personRoutes(
  routes: readonly Route[],
  consoleRoutes: readonly ConsoleRoute[],
): readonly PersonRoute[] {
  return [
    ...routes.flatMap((route) =>
      keyOnlyRoutes.includes(route) || isStream(route)
        ? []
        : {
            route,
            level: 'application' as const,
            role: roleFor(route.scope),
            allowsArchived: route.method === 'GET',
          },
    ),
    ...consoleRoutes.map((route) => ({
      route,
      level: route.level,
      role: route.role,
      allowsArchived: route.method === 'GET' || route.allowsArchived === true,
    })),
  ];
}

/** Serves both route tables to signed-in people, in the organizations of which they are members. */
export function addConsoleRoutes(app: FastifyInstance, settings: ConsoleSettings, serving: Serving): void {
  app.decorateRequest('person', null);
  app.decorateRequest('sessionId', '');
  for (const { route, level, ...needed } of personRoutes(settings.routes, settings.consoleRoutes)) {
    const scope = level === 'organization' ? ':orgId/' : ':orgId/:appId/';
    const url = consolePrefix + scope + route.path.replace(/\{(\w+)\}/g, ':$1');
    serving.add(route, url, (request, reply, done) => {
      request.operation = route.operationId;
      admit(settings, request, reply, needed)
        .then((refusal) => refusal ?? refuseHeaders(request, route))
        .then((refusal) => done(refusal ? new Refused(refusal) : undefined), done);
    });
  }
}

export type AdmissionSettings = Pick<ConsoleSettings, 'people' | 'reader' | 'publicUrl' | 'limitPerson'>;

/** A person who is not a member of an organization learns nothing about it, not even that it exists. */
export async function admit(
  { reader, publicUrl, ...settings }: AdmissionSettings,
  request: FastifyRequest,
  reply: FastifyReply,
  { role, allowsArchived }: Pick<PersonRoute, 'role' | 'allowsArchived'>,
): Promise<Refusal | undefined> {
  const originRefusal = refuseOrigin(request.method, request.headers, publicUrl());
  if (originRefusal) return originRefusal;
  const person = await personOf(settings, request, reply);
  if (!person) return refuse('session_missing');
  const { orgId = '', appId: appIdParam = '' } = request.params as { orgId?: string; appId?: string };
  if (!isId('organization', orgId) || (appIdParam !== '' && !isId('application', appIdParam)))
    return refuse('resource_not_found');
  const appId = appIdParam === '' ? noApplication : appIdParam;
  const membership = await findMemberContext(reader, orgId, memberIdOf(person.id), appId);
  if (!membership || (appId !== noApplication && membership.appId === null))
    return refuse('resource_not_found');
  if (membership.requiresTwoFactor && !person.hasTwoFactor) return refuse('two_factor_required');
  const principal: Principal = {
    ...{ orgId, orgName: membership.orgName, appId, appName: membership.appName ?? '' },
    settings: membership.settings ?? defaultApplicationSettings,
    actor: { kind: 'person', id: person.id },
    name: person.name,
    scopes: scopesOf(membership.role),
    role: membership.role,
    mayReset: isAtLeast(membership.role, 'admin'),
  };
  request.principal = principal;
  if (isAtLeast(membership.role, role))
    return membership.isArchived && !allowsArchived ? refuse('application_archived') : undefined;
  return refuse('role_missing', {
    message: `Your role in ${membership.orgName} is ${membership.role}; this requires ${role}.`,
    details: { role },
  });
}

/** Null without a valid session. Throws a refusal when the person exceeds the rate limit. */
export async function personOf(
  { people, limitPerson }: Pick<ConsoleSettings, 'people' | 'limitPerson'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | null> {
  const session = await people.signedIn(visitorOf(request));
  if (!session) return null;
  setCookies(reply, session.cookies);
  const limit = limitPerson(session.value.person.id);
  if (limit) reply.headers(limit.headers);
  if (limit?.refusal) throw new Refused(limit.refusal);
  request.person = session.value.person;
  request.sessionId = session.value.sessionId;
  return session.value.person;
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('Set-Cookie', cookie);
}

export function visitorOf(request: FastifyRequest): Visitor {
  const { 'user-agent': agent, cookie: cookies } = request.headers;
  return { address: request.ip, agent, cookies };
}
