import type { EventRow } from '../../kernel/event.ts';
import { defineTable } from '../../kernel/table.ts';

export const eventsTable = defineTable<EventRow>('events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  type: 'text',
  resource: 'text',
  resourceId: 'text',
  sequence: 'integer',
  requestId: 'text',
  data: 'json',
  createdAt: 'timestamptz',
});
