/**
 * The yardstick of creates: a straightforward design of the same five rows, with a primary key each, one more index on the two
 * tables that are listed, and no foreign keys, triggers or further constraints. Unlike the baseline it does not follow our schema,
 * so a smaller schema of ours cannot make it faster.
 */
import pg from 'pg';
import type { Statement } from './baseline.ts';

const TABLES = `
  create table payments (
    org_id uuid, id uuid, app_id uuid not null, amount bigint not null check (amount > 0), currency char(3) not null, status text not null,
    amount_capturable bigint not null, amount_captured bigint not null, amount_refunded bigint not null, amount_disputed bigint not null,
    fee_amount bigint not null, capture_method text not null, payment_method jsonb not null, customer_id uuid, description text,
    reference text, metadata jsonb not null, scenario jsonb not null, version int not null, created_at timestamptz not null,
    updated_at timestamptz not null, primary key (org_id, id));
  create index on payments (org_id, app_id, created_at desc, id desc);
  create table history (
    org_id uuid, resource_id uuid, version int, action text not null, from_status text, to_status text not null, actor uuid not null,
    request_id uuid not null, at timestamptz not null, primary key (org_id, resource_id, version));
  create table events (
    org_id uuid, id uuid, app_id uuid not null, type text not null, resource_id uuid not null, sequence int not null, data jsonb not null,
    created_at timestamptz not null, primary key (org_id, id));
  create index on events (org_id, app_id, created_at desc, id desc);
  create table audit (
    org_id uuid, id uuid, actor uuid not null, action text not null, resource_id uuid not null, ip inet not null, request_id uuid not null,
    outcome text not null, at timestamptz not null, primary key (org_id, id));
  create table idempotency (
    org_id uuid, app_id uuid, key text, fingerprint bytea not null, status int not null, body text not null, created_at timestamptz not null,
    primary key (org_id, app_id, key));`;

const ORG = `'7f1c0a52-3d0e-4c5b-9a41-5f2f6c1b8e00'::uuid`;
/** Two numbers of at most 12 digits. The random one is first, so that ids are unordered. */
const ID = `(lpad(to_hex($1::bigint), 16, '0') || lpad(to_hex($2::bigint), 16, '0'))::uuid`;
const PARAMETERS: Statement['parameters'] = [{ kind: 'random' }, { kind: 'number' }];

export async function createPlainTables(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(TABLES);
  } finally {
    await client.end();
  }
}

/** `payment` is the response to a real create request. It is part of the statements, so it is not transferred for each transaction. */
export function plainTablesStatements(payment: string): readonly Statement[] {
  // With a space after each colon: pgbench would replace `:true` by a variable of this name.
  const answer = pg.escapeLiteral(JSON.stringify(JSON.parse(payment), null, 1).replace(/\n */g, ''));
  return [
    `insert into payments values (${ORG}, ${ID}, ${ORG}, 1999, 'EUR', 'pending', 0, 0, 0, 0, 0, 'automatic', '{"type": "card"}', null,
      'a performance bar', null, '{"order": "A 1001"}', '"approve"', 1, now(), now())`,
    `insert into history values (${ORG}, ${ID}, 1, 'create', null, 'pending', ${ORG}, ${ID}, now())`,
    `insert into events values (${ORG}, ${ID}, ${ORG}, 'payment.created', ${ID}, 1, ${answer}, now())`,
    `insert into audit values (${ORG}, ${ID}, ${ORG}, 'payment.create', ${ID}, '127.0.0.1', ${ID}, 'ok', now())`,
    `insert into idempotency values (${ORG}, ${ORG}, 'bar ' || $1::bigint || ' ' || $2::bigint,
      sha256('fingerprint of the request'), 201, ${answer}, now())`,
  ].map((sql) => ({ sql, parameters: PARAMETERS }));
}
