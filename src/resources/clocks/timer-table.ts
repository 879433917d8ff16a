import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** When a record is next due. Derived from the record and written with every change of that instant. */
export interface TimerRow {
  readonly orgId: Id<'organization'>;
  /** The id of the record: a record has one timer, for its next step. */
  readonly id: string;
  readonly appId: Id<'application'>;
  readonly resource: string;
  readonly dueAt: Instant;
}

export const timersTable = defineTable<TimerRow>('timers', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  resource: 'text',
  dueAt: 'timestamptz',
});
