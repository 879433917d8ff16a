import { type Static, Type } from 'typebox';
import { amountText } from '../../kernel/currency.ts';
import { isId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, nullable, resource, strict } from '../../kernel/schema.ts';
import { type FoundRecord, findByContent, findById, findByPrefix, hitKinds } from './search-store.ts';

const SearchQuery = strict({ q: Type.String({ minLength: 1, maxLength: limits.searchLengthMax }) });
const hitsMax = 20;
// Almost every row contains a single letter.
const contentLengthMin = 2;

const SearchSchema = resource('search', ['ok'], {
  hits: Type.Array(
    Type.Object(
      {
        kind: Type.Enum([...hitKinds]),
        id: Type.String(),
        title: Type.String(),
        subtitle: nullable(Type.String()),
        status: Type.String(),
      },
      component('SearchHit'),
    ),
  ),
});

export const searchRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'search',
    method: 'GET',
    path: 'search',
    role: 'viewer',
    level: 'application',
    summary: 'Find a record by id, and records by reference, description, name or e-mail address',
    query: SearchQuery,
    response: SearchSchema,
    responseName: 'SearchResults',
    read: async ({ reader, principal: { orgId }, query }) => {
      const q = (query as Static<typeof SearchQuery>).q.trim();
      const kind = hitKinds.find((one) => isId(one, q));
      const byId = kind === undefined ? [] : await findById(reader, orgId, kind, q);
      // An id may also be a reference of another record, so both searches run.
      const byPrefix = q === '' ? [] : await findByPrefix(reader, orgId, q, hitsMax);
      const isFull = q.length < contentLengthMin || byPrefix.length >= hitsMax;
      const byContent = isFull ? [] : await findByContent(reader, orgId, q, hitsMax);
      const hits = new Map([...byId, ...byPrefix, ...byContent].map((hit) => [hit.id, hitOf(hit)]));
      return { object: 'search', sandbox: true, status: 'ok', hits: [...hits.values()].slice(0, hitsMax) };
    },
  },
];

function hitOf({ amount, currency, title, ...hit }: FoundRecord) {
  const money = amount === null || currency === null ? null : amountText(amount, currency);
  return { ...hit, title: [money, title].filter((part) => part !== null).join(' ') };
}
