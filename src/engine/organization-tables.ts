import type { IdKind } from '../kernel/ids.ts';

/**
 * How a reset and an export of an organization treat the rows of a table:
 * - `configuration`: a reset retains them, a snapshot includes them. Applications, keys, webhooks.
 * - `record`: a reset deletes them, a snapshot includes them. Payments and everything that follows from them.
 * - `trace`: a reset deletes them, a snapshot excludes them. Operational data that only this server uses.
 * - `own`: a reset retains them, a snapshot excludes them. Members, and the audit trail of this server.
 */
export type ResetPolicy = 'configuration' | 'record' | 'trace' | 'own';

export interface OrganizationTable {
  readonly name: string;
  readonly resetPolicy: ResetPolicy;
  /** The kind of ids in the column `id`, if the table has one. */
  readonly ids?: IdKind;
}

/**
 * Every table with organization data, in snapshot order. A test compares this list with the database, so a new table without
 * an entry here fails the test.
 */
export const organizationTables: readonly OrganizationTable[] = [
  { name: 'organizations', resetPolicy: 'configuration', ids: 'organization' },
  { name: 'applications', resetPolicy: 'configuration', ids: 'application' },
  { name: 'api_keys', resetPolicy: 'configuration', ids: 'api_key' },
  { name: 'webhooks', resetPolicy: 'configuration', ids: 'webhook' },
  { name: 'clocks', resetPolicy: 'configuration', ids: 'clock' },
  { name: 'customers', resetPolicy: 'record', ids: 'customer' },
  { name: 'payments', resetPolicy: 'record', ids: 'payment' },
  { name: 'refunds', resetPolicy: 'record', ids: 'refund' },
  { name: 'disputes', resetPolicy: 'record', ids: 'dispute' },
  { name: 'transfers', resetPolicy: 'record', ids: 'transfer' },
  { name: 'fault_plans', resetPolicy: 'record', ids: 'fault_plan' },
  { name: 'timers', resetPolicy: 'record' },
  // A reset also retains the history of retained records, see clearing.ts.
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
  // The coverage of a test suite: a reset between two tests must not delete it, and a copy starts without coverage.
  { name: 'coverage', resetPolicy: 'own' },
  // Reports about a receiver, which a reset does not change.
  { name: 'examinations', resetPolicy: 'own', ids: 'examination' },
  { name: 'api_key_uses', resetPolicy: 'own' },
  { name: 'members', resetPolicy: 'own', ids: 'member' },
  { name: 'invitations', resetPolicy: 'own', ids: 'invitation' },
  { name: 'audit', resetPolicy: 'own', ids: 'audit' },
  { name: 'audit_seals', resetPolicy: 'own' },
  { name: 'deleted_organizations', resetPolicy: 'own' },
];

/** Tables that retain rows of a deleted organization: its audit trail, which shows who deleted it, and its tombstone. */
const retainedAfterDeletion = ['audit', 'audit_seals', 'deleted_organizations'];

export const deletedTables: readonly string[] = organizationTables
  .map(({ name }) => name)
  .filter((name) => !retainedAfterDeletion.includes(name));

export function tablesOf(...policies: readonly ResetPolicy[]): readonly string[] {
  return organizationTables
    .filter(({ resetPolicy }) => policies.includes(resetPolicy))
    .map(({ name }) => name);
}

/** The name of a table in a response. */
export function countName(table: string): string {
  return table.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
