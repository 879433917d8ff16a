import { type Static, Type } from 'typebox';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { id as idSchema, resource, strict } from '../../kernel/schema.ts';
import { findCustomerNames } from './names-store.ts';

const idsMax = 100;
const NamesQuery = strict({ ids: Type.String({ minLength: 1, maxLength: 31 * idsMax }) });

const NamesSchema = resource('customer_names', ['ok'], {
  names: Type.Array(Type.Object({ id: idSchema('customer'), name: Type.String() })),
});

export const nameRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listCustomerNames',
    method: 'GET',
    path: 'customer_names',
    role: 'viewer',
    level: 'application',
    summary: 'The names of the customers on a page of records',
    query: NamesQuery,
    response: NamesSchema,
    responseName: 'CustomerNames',
    read: async ({ reader, principal: { orgId }, query }) => {
      const ids = (query as Static<typeof NamesQuery>).ids.split(',');
      if (ids.length > idsMax || !ids.every((id) => isId('customer', id)))
        return refuse('invalid_request', {
          message: `\`ids\` takes up to ${idsMax} customer ids, separated by commas.`,
          param: 'ids',
        });
      const names = await findCustomerNames(reader, orgId, ids);
      return { object: 'customer_names', sandbox: true, status: 'ok', names };
    },
  },
];
