import { defineTable, type Instant } from '../../kernel/table.ts';

export const disputeStates = ['needs_response', 'under_review', 'won', 'lost'] as const;
export const disputeStages = ['chargeback', 'pre_arbitration', 'arbitration'] as const;

export interface DisputeRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof disputeStates)[number];
  readonly version: number;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reason: string;
  readonly stage: (typeof disputeStages)[number];
  readonly evidence: Readonly<Record<string, string>> | null;
  /** Until when the stage has to be answered; past it the dispute is lost. */
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
