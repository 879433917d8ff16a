import type { IdKind } from '../kernel/ids.ts';

/**
 * What becomes of the rows of a table when their organization is reset, and when it is exported:
 * - `kept`: they stay, and are part of a snapshot. What was set up: applications, keys, webhooks.
 * - `record`: they are deleted, and are part of a snapshot. What was done: payments and all that follows from them.
 * - `trace`: they are deleted, and are no part of a snapshot. What only this server has a use for.
 * - `own`: they stay, and are no part of a snapshot. People, and the audit trail of this server.
 */
export type Fate = 'kept' | 'record' | 'trace' | 'own';

export interface OrganizationTable {
  readonly name: string;
  readonly fate: Fate;
  /** What the ids in its column `id` are, where it has one. */
  readonly ids?: IdKind;
}

/**
 * Every table with rows of organizations, in the order of a snapshot. The one list of them: a test compares it with the
 * database, so a table that is made without a line here is noticed.
 */
export const organizationTables: readonly OrganizationTable[] = [
  { name: 'organizations', fate: 'kept', ids: 'organization' },
  { name: 'applications', fate: 'kept', ids: 'application' },
  { name: 'api_keys', fate: 'kept', ids: 'api_key' },
  { name: 'webhooks', fate: 'kept', ids: 'webhook' },
  { name: 'clocks', fate: 'kept', ids: 'clock' },
  { name: 'customers', fate: 'record', ids: 'customer' },
  { name: 'payments', fate: 'record', ids: 'payment' },
  { name: 'refunds', fate: 'record', ids: 'refund' },
  { name: 'disputes', fate: 'record', ids: 'dispute' },
  { name: 'transfers', fate: 'record', ids: 'transfer' },
  { name: 'fault_plans', fate: 'record', ids: 'fault_plan' },
  { name: 'timers', fate: 'record' },
  // Of what is kept, the history is kept as well; see the reset.
  { name: 'state_history', fate: 'record' },
  { name: 'events', fate: 'record', ids: 'event' },
  { name: 'ledger_entries', fate: 'record', ids: 'ledger_entry' },
  { name: 'ledger_balances', fate: 'record' },
  { name: 'provider_events', fate: 'record', ids: 'provider_event' },
  { name: 'settlement_lines', fate: 'record', ids: 'settlement_line' },
  { name: 'replays', fate: 'record', ids: 'replay' },
  { name: 'deliveries', fate: 'record', ids: 'delivery' },
  { name: 'delivery_attempts', fate: 'record' },
  { name: 'idempotency', fate: 'trace' },
  { name: 'idempotency_secrets', fate: 'trace' },
  { name: 'requests', fate: 'trace', ids: 'request' },
  { name: 'request_minutes', fate: 'trace' },
  { name: 'webhook_health', fate: 'trace' },
  // What the tests of this server have met: a reset between two of them must not forget it, and a copy has met nothing.
  { name: 'coverage', fate: 'own' },
  { name: 'api_key_uses', fate: 'own' },
  { name: 'members', fate: 'own', ids: 'member' },
  { name: 'invitations', fate: 'own', ids: 'invitation' },
  { name: 'audit', fate: 'own', ids: 'audit' },
  { name: 'audit_seals', fate: 'own' },
  { name: 'deleted_organizations', fate: 'own' },
];

/** What stays when an organization is deleted: its audit trail, which says who did it, and the note that it was. */
const afterDeletion = ['audit', 'audit_seals', 'deleted_organizations'];

export const deletedTables: readonly string[] = organizationTables
  .map(({ name }) => name)
  .filter((name) => !afterDeletion.includes(name));

export function tablesOf(...fates: readonly Fate[]): readonly string[] {
  return organizationTables.filter(({ fate }) => fates.includes(fate)).map(({ name }) => name);
}

/** The name of a table in a response. */
export function countName(table: string): string {
  return table.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
