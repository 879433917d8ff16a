import type { Actor } from '../../kernel/command.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface AuditRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'audit'>;
  readonly at: Instant;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly appId: Id<'application'> | null;
  readonly action: string;
  readonly resource: string | null;
  readonly resourceId: string | null;
  readonly requestId: Id<'request'>;
  readonly ip: string | null;
  readonly outcome: 'accepted' | 'refused';
  readonly code: string | null;
}

export const auditTable = defineTable<AuditRow>('audit', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  at: 'timestamptz',
  actorKind: 'text',
  actorId: 'text',
  appId: 'text',
  action: 'text',
  resource: 'text',
  resourceId: 'text',
  requestId: 'text',
  ip: 'text',
  outcome: 'text',
  code: 'text',
});
