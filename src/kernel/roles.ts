import { type Needed, type Scope, scopes, scopesNeeded } from './scopes.ts';

/** What a member of an organization may do, rising: each may do all that those before it may. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;

export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** What a route of the API asks of a person: to read is everybody's, to write is not the viewers'. */
export function roleFor(needed: Needed): Role {
  return scopesNeeded(needed).some((scope) => scope.endsWith(':write')) ? 'developer' : 'viewer';
}

/** The scopes that a person has by their role, as a key would. */
export function scopesOf(role: Role): ReadonlySet<Scope> {
  return new Set(isAtLeast(role, 'developer') ? scopes : scopes.filter((scope) => scope.endsWith(':read')));
}
