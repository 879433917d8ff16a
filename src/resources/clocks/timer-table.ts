import { defineTable, type Instant } from '../../kernel/table.ts';

/** When a record next falls due. It follows from the record, and is written with every change that moves it. */
export interface TimerRow {
  readonly orgId: string;
  /** The record's own id: a record has one timer, for what comes first. */
  readonly id: string;
  readonly appId: string;
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
