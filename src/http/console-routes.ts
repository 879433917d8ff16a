import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { People, Person, Visitor } from '../identity/people.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { isAtLeast, type Role, roleFor, scopesOf } from '../kernel/permissions.ts';
import {
  type ConsoleRoute,
  isStream,
  type Principal,
  type Reader,
  type Route,
  type ServedRoute,
} from '../kernel/route.ts';
import { statusRoute } from '../resources/capabilities/status-api.ts';
import { memberIdOf } from '../resources/organizations/member-machine.ts';
import { findPlace } from '../resources/organizations/member-store.ts';
import { resetRoute } from '../resources/organizations/reset-api.ts';
import { refuseOrigin } from './console-origin.ts';
import type { Taken } from './rate-limit.ts';
import { Refused } from './refused.ts';
import { refuseHeaders, type Serving } from './serve.ts';

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | null;
    /** The session by which the person is signed in. */
    sessionId: string;
  }
}

export interface ConsoleSettings {
  readonly people: People;
  readonly reader: Reader;
  readonly publicUrl: () => string;
  /** Takes a token of a person who is signed in. */
  readonly limitPerson: (personId: string) => Taken | undefined;
  readonly routes: readonly Route[];
  readonly consoleRoutes: readonly ConsoleRoute[];
}

/** A route with the place and the role that a person needs for it. */
export interface PersonRoute {
  readonly route: ServedRoute;
  readonly within: ConsoleRoute['level'];
  readonly role: Role;
  /** Whether an archived application still takes it. */
  readonly isOfArchived: boolean;
}

export const consolePrefix = '/console/api/';

/** What is about a key, and what people have a route of their own for. */
const onlyForKeys: readonly Route[] = [statusRoute, resetRoute];

/**
 * All that people can ask for: what the API has for keys, with few exceptions, and what only the console has. Not the stream
 * of one application: the console has that of the whole organization.
 */
export function personRoutes(
  routes: readonly Route[],
  consoleRoutes: readonly ConsoleRoute[],
): readonly PersonRoute[] {
  return [
    ...routes.flatMap((route) =>
      onlyForKeys.includes(route) || isStream(route)
        ? []
        : {
            route,
            within: 'application' as const,
            role: roleFor(route.scope),
            isOfArchived: route.method === 'GET',
          },
    ),
    ...consoleRoutes.map((route) => ({
      route,
      within: route.level,
      role: route.role,
      isOfArchived: route.method === 'GET' || route.allowsArchived === true,
    })),
  ];
}

/** Serves both route tables to people who are signed in, each in an organization that they belong to. */
export function addConsoleRoutes(app: FastifyInstance, settings: ConsoleSettings, serving: Serving): void {
  app.decorateRequest('person', null);
  app.decorateRequest('sessionId', '');
  for (const { route, within, ...needed } of personRoutes(settings.routes, settings.consoleRoutes)) {
    const place = within === 'organization' ? ':orgId/' : ':orgId/:appId/';
    const url = consolePrefix + place + route.path.replace(/\{(\w+)\}/g, ':$1');
    serving.add(route, url, (request, reply, done) => {
      request.operation = route.operationId;
      admit(settings, request, reply, needed)
        .then((refusal) => refusal ?? refuseHeaders(request, route))
        .then((refusal) => done(refusal ? new Refused(refusal) : undefined), done);
    });
  }
}

export type AdmissionSettings = Pick<ConsoleSettings, 'people' | 'reader' | 'publicUrl' | 'limitPerson'>;

/** Whoever is no member of an organization learns nothing of it, not even that it is there. */
export async function admit(
  { reader, publicUrl, ...settings }: AdmissionSettings,
  request: FastifyRequest,
  reply: FastifyReply,
  { role, isOfArchived }: Pick<PersonRoute, 'role' | 'isOfArchived'>,
): Promise<Refusal | undefined> {
  const foreign = refuseOrigin(request.method, request.headers, publicUrl());
  if (foreign) return foreign;
  const person = await personOf(settings, request, reply);
  if (!person) return refuse('session_missing');
  const { orgId = '', appId = '' } = request.params as { orgId?: string; appId?: string };
  if (!isId('organization', orgId) || (appId !== '' && !isId('application', appId)))
    return refuse('resource_not_found');
  const place = await findPlace(reader, orgId, memberIdOf(person.id), appId);
  if (!place || (appId !== '' && place.appId === null)) return refuse('resource_not_found');
  const principal: Principal = {
    ...{ orgId, orgName: place.orgName, appId, appName: place.appName ?? '' },
    settings: place.settings ?? defaultApplicationSettings,
    actor: { kind: 'person', id: person.id },
    name: person.name,
    scopes: scopesOf(place.role),
    role: place.role,
    mayReset: isAtLeast(place.role, 'admin'),
  };
  request.principal = principal;
  if (isAtLeast(place.role, role))
    return place.isArchived && !isOfArchived ? refuse('application_archived') : undefined;
  return refuse('role_missing', {
    message: `Your role in ${place.orgName} is ${place.role}; this takes ${role}.`,
    details: { role },
  });
}

/** Null when nobody is signed in. Throws a refusal when the person has made too many requests. */
export async function personOf(
  { people, limitPerson }: Pick<ConsoleSettings, 'people' | 'limitPerson'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | null> {
  const found = await people.whoIs(visitorOf(request));
  if (!found) return null;
  setCookies(reply, found.cookies);
  const taken = limitPerson(found.value.person.id);
  if (taken) reply.headers(taken.headers);
  if (taken?.refusal) throw new Refused(taken.refusal);
  request.person = found.value.person;
  request.sessionId = found.value.sessionId;
  return found.value.person;
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('Set-Cookie', cookie);
}

export function visitorOf(request: FastifyRequest): Visitor {
  const { 'user-agent': agent, cookie: cookies } = request.headers;
  return { address: request.ip, agent, cookies };
}
