import type { IdKind } from '../kernel/ids.ts';

/**
 * What becomes of the rows of a table when their organization is reset, and when it is exported:
 * - `kept`: they stay, and are part of a snapshot. What was set up: applications, keys, webhooks.
 * - `record`: they are deleted, and are part of a snapshot. What was done: payments and all that follows from them.
 * - `trace`: they are deleted, and are no part of a snapshot. What only this server has a use for.
 * - `own`: they stay, and are no part of a snapshot. People, and the audit trail of this server.
 */
export type ResetPolicy = 'kept' | 'record' | 'trace' | 'own';

export interface OrganizationTable {
  readonly name: string;
  readonly resetPolicy: ResetPolicy;
  /** What the ids in its column `id` are, where it has one. */
  readonly ids?: IdKind;
}

/**
 * Every table with rows of organizations, in the order of a snapshot. The one list of them: a test compares it with the
 * database, so a table that is made without a line here is noticed.
 */
export const organizationTables: readonly OrganizationTable[] = [
  { name: 'organizations', resetPolicy: 'kept', ids: 'organization' },
  { name: 'applications', resetPolicy: 'kept', ids: 'application' },
  { name: 'api_keys', resetPolicy: 'kept', ids: 'api_key' },
  { name: 'webhooks', resetPolicy: 'kept', ids: 'webhook' },
  { name: 'clocks', resetPolicy: 'kept', ids: 'clock' },
  { name: 'customers', resetPolicy: 'record', ids: 'customer' },
  { name: 'payments', resetPolicy: 'record', ids: 'payment' },
  { name: 'refunds', resetPolicy: 'record', ids: 'refund' },
  { name: 'disputes', resetPolicy: 'record', ids: 'dispute' },
  { name: 'transfers', resetPolicy: 'record', ids: 'transfer' },
  { name: 'fault_plans', resetPolicy: 'record', ids: 'fault_plan' },
  { name: 'timers', resetPolicy: 'record' },
  // Of what is kept, the history is kept as well; see the reset.
  { name: 'state_history', resetPolicy: 'record' },
  { name: 'events', resetPolicy: 'record', ids: 'event' },
  { name: 'ledger_entries', resetPolicy: 'record', ids: 'ledger_entry' },
  { name: 'ledger_balances', resetPolicy: 'record' },
  { name: 'provider_events', resetPolicy: 'record', ids: 'provider_event' },
  { name: 'settlement_lines', resetPolicy: 'record', ids: 'settlement_line' },
  { name: 'replays', resetPolicy: 'record', ids: 'replay' },
  { name: 'deliveries', resetPolicy: 'record', ids: 'delivery' },
  { name: 'delivery_attempts', resetPolicy: 'record' },
  { name: 'idempotency', resetPolicy: 'trace' },
  { name: 'idempotency_secrets', resetPolicy: 'trace' },
  { name: 'requests', resetPolicy: 'trace', ids: 'request' },
  { name: 'request_minutes', resetPolicy: 'trace' },
  { name: 'webhook_health', resetPolicy: 'trace' },
  // What the tests of this server have met: a reset between two of them must not forget it, and a copy has met nothing.
  { name: 'coverage', resetPolicy: 'own' },
  { name: 'api_key_uses', resetPolicy: 'own' },
  { name: 'members', resetPolicy: 'own', ids: 'member' },
  { name: 'invitations', resetPolicy: 'own', ids: 'invitation' },
  { name: 'audit', resetPolicy: 'own', ids: 'audit' },
  { name: 'audit_seals', resetPolicy: 'own' },
  { name: 'deleted_organizations', resetPolicy: 'own' },
];

/** What stays when an organization is deleted: its audit trail, which says who did it, and the note that it was. */
const afterDeletion = ['audit', 'audit_seals', 'deleted_organizations'];

export const deletedTables: readonly string[] = organizationTables
  .map(({ name }) => name)
  .filter((name) => !afterDeletion.includes(name));

export function tablesOf(...fates: readonly ResetPolicy[]): readonly string[] {
  return organizationTables.filter(({ resetPolicy }) => fates.includes(resetPolicy)).map(({ name }) => name);
}

/** The name of a table in a response. */
export function countName(table: string): string {
  return table.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
