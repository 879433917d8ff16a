import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant, type SearchedTexts } from '../../kernel/table.ts';

export const disputeStates = ['needs_response', 'under_review', 'won', 'lost'] as const;
export const disputeStages = ['chargeback', 'pre_arbitration', 'arbitration'] as const;

export interface DisputeRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'dispute'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof disputeStates)[number];
  readonly version: number;
  readonly paymentId: Id<'payment'>;
  readonly amount: bigint;
  readonly currency: string;
  readonly reason: string;
  readonly stage: (typeof disputeStages)[number];
  readonly evidence: Readonly<Record<string, string>> | null;
  /** The response deadline of the stage; after it the dispute is lost. */
  readonly respondBy: Instant;
  readonly closedAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const disputesTable = defineTable<DisputeRow>('disputes', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  paymentId: 'text',
  amount: 'bigint',
  currency: 'text',
  reason: 'text',
  stage: 'text',
  evidence: 'jsonb',
  respondBy: 'timestamptz',
  closedAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export const disputeTexts: SearchedTexts = {
  description:
    'the start of the dispute or payment id, or any part of the reason or of the reference of the payment',
  ids: ['id', 'payment_id'],
  texts: ['reason'],
  parent: { table: 'payments', key: 'payment_id', texts: ['reference'], scope: 'payments:read' },
};
