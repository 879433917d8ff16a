import { type Static, Type } from 'typebox';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { id as idSchema, nullable, resource, strict } from '../../kernel/schema.ts';
import { nextStep } from '../payments/scenario.ts';
import { paymentsTable } from '../payments/table.ts';

/** Up to 100 rows of a page, and up to 100 selected ones. */
const idsMax = 200;
const NextActionsQuery = strict({ ids: Type.String({ minLength: 1, maxLength: 31 * idsMax }) });

const NextActionsSchema = resource('next_actions', ['ok'], {
  payments: Type.Array(
    Type.Object({
      id: idSchema('payment'),
      nextAction: nullable(Type.String({ description: 'What an advance without an action does now.' })),
    }),
    { description: 'Payments that do not exist are omitted.' },
  ),
});

export const nextActionRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listNextActions',
    method: 'GET',
    path: 'next_actions',
    role: 'viewer',
    level: 'application',
    summary: 'The next scenario steps of the payments on a page',
    query: NextActionsQuery,
    response: NextActionsSchema,
    responseName: 'NextActions',
    read: async ({ reader, principal: { orgId }, query }) => {
      const ids = (query as Static<typeof NextActionsQuery>).ids.split(',');
      const known = ids.flatMap((id) => (isId('payment', id) ? [id] : []));
      if (ids.length > idsMax || known.length < ids.length)
        return refuse('invalid_request', {
          message: `\`ids\` takes up to ${idsMax} payment ids, separated by commas.`,
          param: 'ids',
        });
      const rows = await Promise.all(known.map((id) => reader.byKey(paymentsTable, orgId, id)));
      const payments = rows.flatMap((row) =>
        row === undefined ? [] : [{ id: row.id, nextAction: nextStep(row)?.action ?? null }],
      );
      return { object: 'next_actions', sandbox: true, status: 'ok', payments };
    },
  },
];
