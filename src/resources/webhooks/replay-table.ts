import { defineTable, type Instant } from '../../kernel/table.ts';

export const replayStates = ['running', 'completed'] as const;

/**
 * What is sent again of a window: `failed`, where no delivery to the endpoint succeeded and none is under way; `missing`,
 * where there is none at all; `all`, whatever came of it before.
 */
export const selections = ['failed', 'missing', 'all'] as const;

export interface ReplayRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof replayStates)[number];
  readonly version: number;
  readonly windowFrom: Instant;
  readonly windowTo: Instant;
  readonly selection: (typeof selections)[number];
  /** Null for all endpoints of the application. */
  readonly webhookId: string | null;
  /** The last event that was looked at, and the last one that is part of it. */
  readonly cursor: string;
  readonly lastEventId: string;
  readonly matched: number;
  readonly replayed: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const replaysTable = defineTable<ReplayRow>('replays', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  windowFrom: 'timestamptz',
  windowTo: 'timestamptz',
  selection: 'text',
  webhookId: 'text',
  cursor: 'text',
  lastEventId: 'text',
  matched: 'integer',
  replayed: 'integer',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
