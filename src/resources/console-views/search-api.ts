import { type Static, Type } from 'typebox';
import { isId } from '../../kernel/ids.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
import { findById, findByPrefix, hitKinds } from './search-store.ts';

const SearchQuery = strict({ q: Type.String({ minLength: 1, maxLength: 100 }) });
const hitsMax = 20;

export const searchRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'search',
    method: 'GET',
    path: 'search',
    role: 'viewer',
    level: 'application',
    summary: 'Find a record by id, and records by reference, name or e-mail prefix',
    query: SearchQuery,
    read: async ({ reader, principal: { orgId }, query }) => {
      const q = (query as Static<typeof SearchQuery>).q.trim();
      const kind = hitKinds.find((one) => isId(one, q));
      const byId = kind === undefined ? [] : await findById(reader, orgId, kind, q);
      // An id may also be a reference of another record, so both searches run.
      const byPrefix = q === '' ? [] : await findByPrefix(reader, orgId, q, hitsMax);
      const hits = [...byId, ...byPrefix.filter(({ id }) => id !== q)].slice(0, hitsMax);
      return { object: 'search', sandbox: true, status: 'ok', hits };
    },
  },
];
