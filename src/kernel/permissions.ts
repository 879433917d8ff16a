/** Member roles in ascending order: each includes the permissions of the roles before it. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;

export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** The role that a person needs for an API route: every role may read, viewers may not write. */
export function roleFor(needed: Needed): Role {
  return scopesNeeded(needed).some((scope) => scope.endsWith(':write')) ? 'developer' : 'viewer';
}

/** The scopes that a role grants to a person. */
export function scopesOf(role: Role): ReadonlySet<Scope> {
  return new Set(isAtLeast(role, 'developer') ? scopes : scopes.filter((scope) => scope.endsWith(':read')));
}

/** The eight scopes of API keys. Reads and writes have separate scopes. */
export const scopes = [
  'payments:read',
  'payments:write',
  'customers:read',
  'customers:write',
  'transfers:read',
  'transfers:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/** What a route requires of a key: any valid key, one scope, or several scopes. */
export type Needed = Scope | 'any' | readonly Scope[];

export function scopesNeeded(needed: Needed): readonly Scope[] {
  if (needed === 'any') return [];
  return typeof needed === 'string' ? [needed] : needed;
}
