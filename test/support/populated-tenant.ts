import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Route } from '../../src/kernel/route.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from './api-client.ts';
import { type Tenant, tenant } from './tenant.ts';

/** An organization with one record of every kind. Each record contains the organization's mark. */
export interface PopulatedTenant extends Tenant {
  /** Record ids by the first segment of their path. */
  readonly ids: Readonly<Record<string, string>>;
  /** A text that only records of this organization contain. */
  readonly mark: string;
}

/** Nothing listens here. */
export const nowhere = 'http://127.0.0.1:9/';
/** A fault plan that never matches: only tests create events of this type, and plans skip tests. */
export const idlePlan = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] };
const window = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
let count = 0;

export async function createPopulatedTenant(server: Server): Promise<PopulatedTenant> {
  const holder = await tenant(server);
  count += 1;
  const mark = `Tenant${count}Mark`;
  const create = async (path: string, body?: unknown) =>
    expectOk(await holder.client.post(`developer_api_${path}`, body));
  // Disabled, so that no delivery changes rows in the background.
  const webhook = await create('webhooks', { url: nowhere, description: mark });
  await create(`webhooks/${webhook.id}/disable`);
  const customer = await create('customers', { name: mark, reference: mark });
  const paymentBody = { amount: 5_000, currency: 'EUR', customerId: customer.id, reference: mark };
  const payment = await create('payments', { ...paymentBody, scenario: 'refund_pending' });
  await create(`payments/${payment.id}/advance`, { to: 'captured' });
  const refund = await create(`payments/${payment.id}/refund`, { amount: 100, reason: mark });
  const { disputeId } = await create(`payments/${payment.id}/advance`, { to: 'disputed' });
  const settled = await create('payments', paymentBody);
  const { settledAt } = await create(`payments/${settled.id}/advance`, { to: 'settled' });
  const transfer = await create('transfers', {
    ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, reference: mark },
    beneficiary: { name: mark },
  });
  const event = await create('webhook_events', { type: 'payment.created', data: { reference: mark } });
  const replay = await create('webhook_deliveries/replay', window);
  const plan = await create('fault_plans', idlePlan);
  const [delivery] = expectOk(await holder.client.get('developer_api_webhook_deliveries')).data;
  const ids: Record<string, string> = {
    payments: payment.id,
    customers: customer.id,
    transfers: transfer.id,
    refunds: refund.id,
    disputes: String(disputeId),
    settlements: String(settledAt).slice(0, 10),
    webhooks: webhook.id,
    webhook_events: event.id,
    webhook_deliveries: delivery?.id ?? '',
    webhook_replays: replay.id,
    fault_plans: plan.id,
    requests: payment.requestId,
  };
  for (const [what, id] of Object.entries(ids)) expect(id, what).not.toBe('');
  return { ...holder, ids, mark };
}

/** The first segment of an API path, which names the kind of record. */
export function kindOf({ path }: Pick<Route, 'path'>): string {
  return (path.split('/')[0] ?? '').replace('developer_api_', '');
}

/** Fails for a kind of record that is not created above, so that no route is skipped. */
export function pathOf(route: Pick<Route, 'path'>, ids: Readonly<Record<string, string>>): string {
  return route.path.replace(/\{\w+\}/, () => {
    const id = ids[kindOf(route)];
    if (id === undefined)
      throw new Error(`create a record of ${kindOf(route)} in test/support/populated-tenant.ts`);
    return id;
  });
}

const examples = JSON.parse(
  readFileSync(new URL('../../docs/examples.json', import.meta.url), 'utf8'),
) as Record<string, { readonly request?: Readonly<Record<string, unknown>> } | undefined>;

/** A valid body for the operation, from its example, with ids of the caller's own records. */
export function bodyOf(
  { operationId, ...route }: Route,
  ids: Readonly<Record<string, string>>,
): Record<string, unknown> {
  if (operationId === 'createFaultPlan') return { ...idlePlan };
  const { customerId, webhookId, url, ...body } = examples[operationId]?.request ?? {};
  if (route.method === 'POST' && route.body && !route.isBodyOptional)
    expect(examples[operationId]?.request, `${operationId} has an example`).toBeDefined();
  return {
    ...body,
    ...(customerId === undefined ? {} : { customerId: ids.customers }),
    ...(webhookId === undefined ? {} : { webhookId: ids.webhooks }),
    ...(url === undefined ? {} : { url: nowhere }),
  };
}

/** Tables that background workers write. */
const backgroundTables = ['audit_seals', 'webhook_health', 'announced_work'];

interface RowDigest {
  readonly name: string;
  readonly size: number;
  readonly digest: string;
}

/** Row digests of all tables of an organization except the given ones. Equal digests mean that nothing changed. */
export async function rowDigests(
  server: Server,
  orgId: string,
  except: readonly string[] = [],
): Promise<readonly RowDigest[]> {
  await Promise.all([server.requestLog.flush(), server.coverage.flush()]);
  return rowDigestsOf(server, orgId, await tablesExcept(server, [...backgroundTables, ...except]));
}

/** The tables with rows of organizations, except the given ones. */
export async function tablesExcept(server: Server, except: readonly string[]): Promise<readonly string[]> {
  const named = await server.database.query<{ name: string }>(
    {
      name: '',
      text: `select table_name::text as name from information_schema.columns
        where table_schema = 'public' and column_name = 'org_id' order by 1`,
    },
    [],
  );
  const tables = named.map(({ name }) => name).filter((name) => !except.includes(name));
  expect(tables).toContain('payments');
  return tables;
}

export function rowDigestsOf(
  server: Server,
  orgId: string,
  tables: readonly string[],
): Promise<readonly RowDigest[]> {
  return server.database.query<RowDigest>(
    {
      name: '',
      text: tables
        .map(
          (name) => `select '${name}' as name, count(*)::integer as size,
            md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as digest from ${name} t where org_id = $1`,
        )
        .join(' union all '),
    },
    [orgId],
  );
}

/** Tables that a rejected request may write: the audit trail, stored responses and logs. */
export const traces = ['audit', 'idempotency', 'requests', 'request_minutes', 'api_key_uses', 'coverage'];
