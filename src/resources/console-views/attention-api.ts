import { Type } from 'typebox';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { id, nullable, resource, Time } from '../../kernel/schema.ts';
import { disabledReasons } from '../webhooks/table.ts';
import {
  countMismatches,
  examinedMax,
  findDueDisputes,
  findFailingWebhooks,
  shownMax,
} from './attention-store.ts';

const Count = Type.Integer({ minimum: 0, description: `Of the newest ${examinedMax}.` });

const AttentionSchema = resource('attention', ['ok'], {
  webhooks: Type.Array(
    Type.Object({
      id: id('webhook'),
      applicationId: id('application'),
      url: Type.String(),
      status: Type.Enum(['enabled', 'disabled']),
      disabledReason: nullable(Type.Enum([...disabledReasons])),
      since: Type.String({ ...Time, description: 'Since when it fails, or when it was disabled.' }),
    }),
    { description: 'Endpoints that the server disabled, and endpoints that fail.' },
  ),
  hasMoreWebhooks: Type.Boolean(),
  disputes: Type.Array(
    Type.Object({ id: id('dispute'), amount: Type.Integer(), currency: Type.String(), respondBy: Time }),
    { description: 'Disputes that need a response, the earliest deadline first.' },
  ),
  disputeCount: Count,
  mismatchCount: Count,
});

/** Not cached: an item disappears with the action that resolves it. Each query reads a bounded number of rows by an index. */
export const attentionRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getAttention',
    method: 'GET',
    path: 'attention',
    role: 'viewer',
    level: 'application',
    summary:
      'List what needs attention: failing endpoints, disputes with a deadline, and settlement mismatches',
    response: AttentionSchema,
    responseName: 'Attention',
    read: async ({ reader, principal: { orgId } }) => {
      const [webhooks, disputes, mismatchCount] = await Promise.all([
        findFailingWebhooks(reader, orgId),
        findDueDisputes(reader, orgId),
        countMismatches(reader, orgId),
      ]);
      return {
        object: 'attention',
        sandbox: true,
        status: 'ok',
        webhooks: webhooks.slice(0, shownMax).map(({ appId, since, ...webhook }) => ({
          ...webhook,
          applicationId: appId,
          since: instantToText(since),
        })),
        hasMoreWebhooks: webhooks.length > shownMax,
        disputes: disputes.map(({ id: disputeId, amount, currency, respondBy }) => ({
          id: disputeId,
          amount: Number(amount),
          currency,
          respondBy: instantToText(respondBy),
        })),
        disputeCount: disputes[0]?.count ?? 0,
        mismatchCount,
      };
    },
  },
];
