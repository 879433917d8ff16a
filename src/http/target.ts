import type { FastifyRequest } from 'fastify';
import { assert } from '../kernel/assert.ts';
import type { Target } from '../kernel/command.ts';
import type { IdKind } from '../kernel/ids.ts';
import type { ApiStreamRoute, Principal, ServedRoute, WriteRoute } from '../kernel/route.ts';
import { clockIdOf } from '../kernel/time.ts';

/** Record kinds that a write can target without an id in its path. */
const ownIds: Partial<Record<IdKind, (principal: Principal) => string>> = {
  organization: ({ orgId }) => orgId,
  clock: ({ appId }) => clockIdOf(appId),
};

/** Checked at startup: a route without its target would write audit rows that the record filter misses. */
export function assertTarget({ operationId, path, target }: ServedRoute & WriteRoute): void {
  if (path.includes('{id}'))
    assert(target !== null && !ownIds[target], `${operationId} has an id in its path but no target`);
  else assert(target === null || ownIds[target], `${operationId} has no id in its path for its target`);
}

/** The target record of a request. Reads have none: they write no audit row, except when the caller lacks permission. */
export function targetOf(
  route: ServedRoute | ApiStreamRoute,
  { params }: Pick<FastifyRequest, 'params'>,
  principal: Principal,
): Target | null {
  if (route.method !== 'POST' || route.target === null) return null;
  const { target: resource } = route;
  const own = ownIds[resource];
  if (own) return { resource, id: own(principal), isClaimed: false };
  return { resource, id: (params as { readonly id?: string }).id ?? '', isClaimed: true };
}

export function pathOf(request: FastifyRequest): string {
  const query = request.url.indexOf('?');
  return query === -1 ? request.url : request.url.slice(0, query);
}
