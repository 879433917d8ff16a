import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant, type SearchedTexts } from '../../kernel/table.ts';

export const refundStates = ['pending', 'succeeded', 'failed', 'canceled'] as const;

export interface RefundRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'refund'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof refundStates)[number];
  readonly version: number;
  readonly paymentId: Id<'payment'>;
  readonly amount: bigint;
  readonly currency: string;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** When it succeeded, failed or was canceled. */
  readonly endedAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const refundsTable = defineTable<RefundRow>('refunds', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  paymentId: 'text',
  amount: 'bigint',
  currency: 'text',
  reason: 'text',
  metadata: 'jsonb',
  endedAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export const refundTexts: SearchedTexts = {
  description:
    'the start of the refund or payment id, or any part of the reason or of the reference of the payment',
  ids: ['id', 'payment_id'],
  texts: ['reason'],
  parent: { table: 'payments', key: 'payment_id', texts: ['reference'], scope: 'payments:read' },
};
