import { type Static, Type } from 'typebox';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { resource, strict } from '../../kernel/schema.ts';
import { customerMachine } from '../customers/machine.ts';
import { disputeMachine } from '../disputes/machine.ts';
import { paymentMachine } from '../payments/machine.ts';
import { refundMachine } from '../refunds/machine.ts';
import { transferMachine } from '../transfers/machine.ts';
import { type Counted, countByStatus, counted, countMax } from './counts-store.ts';

const states: Readonly<Record<Counted, readonly string[]>> = {
  payment: paymentMachine.states,
  refund: refundMachine.states,
  dispute: disputeMachine.states,
  transfer: transferMachine.states,
  customer: customerMachine.states,
};

const CountsSchema = resource('counts', ['ok'], {
  resource: Type.Enum([...counted]),
  counts: Type.Array(
    Type.Object({
      status: Type.String(),
      count: Type.Integer({ minimum: 0 }),
      isMore: Type.Boolean({ description: 'Whether there are more: counting stops at a maximum.' }),
    }),
  ),
});

const CountsQuery = strict({ resource: Type.Enum([...counted]) });

export const countRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'countRecords',
    method: 'GET',
    path: 'counts',
    role: 'viewer',
    level: 'application',
    summary: 'Count the records of each state',
    query: CountsQuery,
    response: CountsSchema,
    responseName: 'StatusCounts',
    read: async ({ reader, principal: { orgId }, query }) => {
      const { resource: kind } = query as Static<typeof CountsQuery>;
      const found = await countByStatus(reader, orgId, kind, states[kind]);
      return {
        object: 'counts',
        sandbox: true,
        status: 'ok',
        resource: kind,
        counts: found.map(({ status, count }) => ({
          status,
          count: Math.min(count, countMax),
          isMore: count > countMax,
        })),
      };
    },
  },
];
