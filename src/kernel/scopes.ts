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
