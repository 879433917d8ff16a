/** A statement that finds rows without their organization. */
export interface Exception {
  /** The name of the statement, or the file of an unnamed one. */
  readonly statement: string;
  /** The tables whose rows are found without `org_id`; all other tables of the statement must follow them by `org_id`. */
  readonly tables: readonly string[] | 'all';
  readonly reason: string;
}

const byKeyHash = 'the hash of a key or token is all that the caller sends; the organization follows from it';
const byPerson = 'a person may belong to several organizations';
const byUrl = 'the URL of an inbox has only the id of its endpoint';
const worker = 'a worker reads what is due in all organizations';
const sweeper = 'a worker deletes old rows of all organizations';
const startup = 'a server reads it once, when it starts';
const operator = 'the operator lists or finds organizations';
const whole = 'it concerns the whole database: an export, a check or a metric';
const physical =
  'rows are found by their physical position, which the same statement read by org_id; another condition would offer the planner an index instead';

const listed: readonly (readonly [statement: string, tables: Exception['tables'], reason: string])[] = [
  ['api_key_owner_by_hash', ['api_keys'], byKeyHash],
  ['api_key_owners_changed', ['api_keys'], byKeyHash],
  ['invitation_by_hash', ['invitations'], byKeyHash],
  ['webhooks_inboxes_by_id', ['webhooks'], byUrl],
  ['memberships_of_person', ['members'], byPerson],
  ['organizations_owned_by_person', ['members'], byPerson],
  ['account_discard', ['members'], byPerson],
  ['accounts_discard_overdue', ['members'], byPerson],
  ['reset_link_state', ['members'], byPerson],
  ['any_api_key', ['api_keys'], startup],
  ['any_webhook', ['webhooks'], startup],
  ['deliveries_release', ['deliveries'], startup],
  ['webhook_health_release', ['webhook_health'], startup],
  ['webhooks_everywhere', ['webhooks'], worker],
  ['deliveries_due_endpoints', ['deliveries'], worker],
  ['timers_due_applications', ['timers'], worker],
  ['clocks_lost_advances', ['clocks'], worker],
  ['replays_running', ['replays'], worker],
  ['audit_trail_ends', ['organizations', 'deleted_organizations'], worker],
  ['deliveries_end_deleted', ['deliveries'], physical],
  ['deliveries_claim', ['deliveries'], physical],
  ['deliveries_mark', ['deliveries'], physical],
  ['deliveries_mark_copies', ['deliveries'], physical],
  ['idempotency_reap', ['idempotency'], sweeper],
  ['idempotency_secrets_reap', ['idempotency_secrets'], sweeper],
  ['requests_reap', ['requests'], sweeper],
  ['request_minutes_reap', ['request_minutes'], sweeper],
  ['delivery_attempts_clear', ['delivery_attempts'], sweeper],
  ['organizations_expired', ['organizations'], sweeper],
  ['organizations_deleted_with_rows', ['deleted_organizations'], sweeper],
  ['organizations_trails_to_forget', ['deleted_organizations'], sweeper],
  ['organizations_named', ['organizations'], operator],
  ['organizations_newest', ['organizations'], operator],
  ['coverage_of_all', ['coverage'], operator],
  ['backlog_deliveries', ['deliveries'], whole],
  ['backlog_timers', ['timers'], whole],
  ['backlog_unsealed', ['organizations'], whole],
  ['snapshots/export.ts', ['organizations'], whole],
  ['admin/verify.ts', 'all', whole],
];

export const exceptions: readonly Exception[] = listed.map(([statement, tables, reason]) => ({
  statement,
  tables,
  reason,
}));
