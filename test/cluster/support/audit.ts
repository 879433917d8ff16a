/** What must be true after a fault: nothing acknowledged is lost, nothing happened twice, and every machine has the same rows. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { queryPostgres } from '../../process/support/database-rows.ts';
import { auditDeliveries } from '../../process/support/delivery-audit.ts';
import { expectListed, expectSame, retry } from '../../process/support/load.ts';
import type { Inbox } from '../../process/support/webhook-receiver.ts';
import { allSent, type Endpoint, endpoint } from '../../process/support/webhook-servers.ts';
import { auditRows, within } from '../../support/audit.ts';
import { runToEnd } from '../../support/processes.ts';
import type { Clients } from './clients.ts';
import { type Cluster, OPERATOR_TOKEN, STEP_MS_MAX } from './cluster.ts';

/** The organization of one fault, with a webhook. */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly endpoint: Endpoint;
}

export async function createTenant(url: string, name: string, inbox: Inbox): Promise<Tenant> {
  const { organization, apiKey } = await post(`${url}/_operator/organizations`, OPERATOR_TOKEN, { name });
  const declared = endpoint(name);
  const webhook = { url: inbox.urlOf(name), eventTypes: ['*'], retryProfile: declared.retryProfile };
  const { secret } = await post(`${url}/_api/developer_api_webhooks`, apiKey.key, webhook);
  return { id: organization.id, key: apiKey.key, endpoint: { ...declared, secret } };
}

interface Created {
  readonly organization: { readonly id: string };
  readonly apiKey: { readonly key: string };
  readonly secret: string;
}

async function post(url: string, token: string, body: object): Promise<Created> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${url} has status ${response.status}: ${text}`);
  return JSON.parse(text) as Created;
}

export interface Audited {
  readonly payments: number;
  readonly events: number;
  /** Deliveries that arrived more than once, under the same id. */
  readonly repeated: number;
}

/** Requires that the clients have stopped and that the cluster is whole. `interruptions` is how often senders lost their database. */
export async function auditTenant(
  cluster: Cluster,
  tenant: Tenant,
  clients: Clients,
  inbox: Inbox,
  interruptions: number,
): Promise<Audited> {
  const { url } = cluster;
  const leader = await cluster.leader();
  const { purchases, contradictions } = clients;
  expect(contradictions.slice(0, 5)).toEqual([]);
  expect(purchases.every(({ id, isCaptured }) => id !== undefined && isCaptured)).toBe(true);
  // Every acknowledged response is stored byte by byte, and no retry created a second payment.
  const { created, repeated } = await retry(url, purchases, tenant.key);
  expect({ created, repeated }).toEqual({ created: 0, repeated: purchases.length });
  await expectListed(url, purchases, tenant.key);
  await allSent(url, STEP_MS_MAX, tenant.key);

  const found = await queryPostgres(cluster.urlAt(leader.address), async (query) => {
    const ownRows = (sql: string) => query(`${within(tenant.id)} ${sql}`);
    const captured = await ownRows(`select id from payments where status = 'captured'`);
    expectSame(
      captured.map(({ id }) => String(id)),
      purchases.map(({ id }) => String(id)),
    );
    expect(await auditRows(query, tenant.id)).toEqual([]);
    return auditDeliveries(ownRows, {
      endpoints: [tenant.endpoint],
      arrivals: inbox.of(tenant.endpoint.name),
      acknowledged: purchases.map(({ id }) => String(id)),
      refused: new Set(),
      kills: interruptions,
    });
  });
  expect(found.complaints.slice(0, 10)).toEqual([]);
  await expectSameRows(cluster, tenant);
  const { code, stdout } = await runToEnd({ args: ['verify', '--json'], env: cluster.verifyEnv });
  expect({ code, status: JSON.parse(stdout).status }, stdout).toEqual({ code: 0, status: 'sound' });
  return { payments: purchases.length, events: found.events, repeated: found.extra };
}

const fingerprint = (org: string) => `
  select count(*)::int as payments, coalesce(sum(version), 0)::int as versions,
    md5(string_agg(id || status || version, ',' order by id)) as digest,
    (select count(*)::int from events where org_id = '${org}') as events,
    (select count(*)::int from audit where org_id = '${org}') as audit,
    (select count(*)::int from idempotency where org_id = '${org}') as responses
  from payments where org_id = '${org}'`;

/** The standbys have replayed the same rows. */
async function expectSameRows(cluster: Cluster, { id }: Tenant): Promise<void> {
  let rows: readonly unknown[] = [];
  await vi.waitUntil(
    async () => {
      rows = await Promise.all(
        cluster.machines.map(({ address }) => rowOf(cluster.urlAt(address), fingerprint(id))),
      );
      return rows.every((row) => JSON.stringify(row) === JSON.stringify(rows[0]));
    },
    { timeout: STEP_MS_MAX, interval: 200 },
  );
  expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1);
}

async function rowOf(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}
