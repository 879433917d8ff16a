import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const replayStates = ['running', 'completed'] as const;

/**
 * The events of a window to replay: `failed` if no delivery to the endpoint succeeded and none is pending; `missing` if there is
 * no delivery; `all` whatever the earlier result.
 */
export const selections = ['failed', 'missing', 'all'] as const;

export interface ReplayRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'replay'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof replayStates)[number];
  readonly version: number;
  readonly windowFrom: Instant;
  readonly windowTo: Instant;
  readonly selection: (typeof selections)[number];
  /** Null for all endpoints of the application. */
  readonly webhookId: Id<'webhook'> | null;
  /** The last event that was read. */
  readonly cursor: string;
  /** The last event that is part of the replay. */
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
