/**
 * Audits the database after crashes without any code of the server: the invariants of the ledger and of every history, and that the rows
 * are exactly those of the requests that the clients of this test sent.
 */
import { expect } from 'vitest';
import type { Query } from '../../support/audit.ts';
import { auditRows } from '../../support/audit.ts';
import { storedResponses } from '../../support/stored-responses.ts';
import { type Claim, expectSame } from './load.ts';
import type { PaymentRun } from './payment-runs.ts';

const own = `org_id = (select id from organizations where name = 'Acme')`;

/** One row for each payment in each of these. */
const created = {
  payments: `select id from payments where ${own}`,
  history: `select resource_id as id from state_history where ${own} and resource = 'payment' and version = 1`,
  events: `select resource_id as id from events where ${own} and resource = 'payment' and type = 'payment.created'`,
  responses: `select body::json ->> 'id' as id from ${storedResponses} where ${own} and status = 201
    and body::json ->> 'object' = 'payment'`,
};

/** In the organizations whose events all belong to a change of a record. */
export async function expectSound(query: Query): Promise<void> {
  for (const { id } of await query(`select id from organizations where name <> 'Initech'`))
    expect(await auditRows(query, String(id))).toEqual([]);
}

/** Every request of every client was executed exactly once, and its stored response is the one that the client got. */
export async function expectExecutedOnce(
  query: Query,
  claims: readonly Claim[],
  runs: readonly PaymentRun[],
): Promise<void> {
  const ids = [...claims.map(({ id }) => String(id)), ...runs.map(({ paymentId }) => paymentId)];
  for (const sql of Object.values(created))
    expectSame(
      (await query(sql)).map(({ id }) => String(id)),
      ids,
    );

  const stored = await query(`select key, body from ${storedResponses} where ${own}`);
  const bodies = new Map(stored.map(({ key, body }) => [key, body]));
  const requests = [...claims, ...runs.flatMap(({ acknowledged }) => acknowledged)];
  const different = requests.filter(({ key, text }) => bodies.get(key) !== text);
  expect(different.slice(0, 3).map(({ key, text }) => ({ key, text, stored: bodies.get(key) }))).toEqual([]);

  // A request that was executed twice would have two rows in the audit trail and one stored response.
  const resources = `'payment', 'refund', 'dispute'`;
  const [counts] = await query(`select
    (select count(*)::integer from audit where ${own} and outcome = 'accepted' and resource in (${resources})) as audited,
    (select count(*)::integer from ${storedResponses} where ${own} and status < 300
      and body::json ->> 'object' in (${resources})) as stored`);
  expect(counts?.audited).toBe(counts?.stored);

  const ends = new Map(runs.map(({ paymentId, plan }) => [paymentId, plan.end]));
  const rows = await query(`select id, status, version, amount_captured::integer as captured,
    amount_refunded::integer as refunded, amount_disputed::integer as disputed from payments where ${own}`);
  const wrong = rows.filter(({ id, ...row }) => {
    const end = ends.get(String(id));
    return end !== undefined && Object.entries(end).some(([name, value]) => row[name] !== value);
  });
  expect(wrong.slice(0, 3)).toEqual([]);
}
