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

/** The eight permissions that a key can have. A write is refused without its own scope, and so is a read. */
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

/** What a route asks of a key: nothing but to be valid, one scope, or several at once. */
export type Needed = Scope | 'any' | readonly Scope[];

export function scopesNeeded(needed: Needed): readonly Scope[] {
  if (needed === 'any') return [];
  return typeof needed === 'string' ? [needed] : needed;
}
