import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Route } from '../../src/kernel/route.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

/** An organization with one record of every kind, each of which bears its mark. */
export interface Estate extends Tenant {
  /** What a record is called in a path, by the first part of the path. */
  readonly ids: Readonly<Record<string, string>>;
  /** In every text of this organization; in no other's. */
  readonly mark: string;
}

/** Nothing listens here. */
export const nowhere = 'http://127.0.0.1:9/';
/** A fault plan that hits nothing: no event of this type comes but by a test, and tests are spared. */
export const idlePlan = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] };
const window = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
let estates = 0;

export async function openEstate(server: Server): Promise<Estate> {
  const holder = await tenant(server);
  estates += 1;
  const mark = `Estate${estates}Mark`;
  const made = async (path: string, body?: unknown) =>
    expectOk(await holder.client.post(`developer_api_${path}`, body));
  // Disabled, so that nothing of it moves by itself.
  const webhook = await made('webhooks', { url: nowhere, description: mark });
  await made(`webhooks/${webhook.id}/disable`);
  const customer = await made('customers', { name: mark, reference: mark });
  const asked = { amount: 5_000, currency: 'EUR', customerId: customer.id, reference: mark };
  const payment = await made('payments', { ...asked, scenario: 'refund_pending' });
  await made(`payments/${payment.id}/advance`, { to: 'captured' });
  const refund = await made(`payments/${payment.id}/refund`, { amount: 100, reason: mark });
  const { disputeId } = await made(`payments/${payment.id}/advance`, { to: 'disputed' });
  const settled = await made('payments', asked);
  const { settledAt } = await made(`payments/${settled.id}/advance`, { to: 'settled' });
  const transfer = await made('transfers', {
    ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, reference: mark },
    beneficiary: { name: mark },
  });
  const event = await made('webhook_events', { type: 'payment.created', data: { reference: mark } });
  const replay = await made('webhook_deliveries/replay', window);
  const plan = await made('fault_plans', idlePlan);
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

/** The first part of the path of the API, which names the kind of the record. */
export function kindOf({ path }: Pick<Route, 'path'>): string {
  return (path.split('/')[0] ?? '').replace('developer_api_', '');
}

/** A new kind of record must be made above, or nothing of it would be tried. */
export function pathOf(route: Pick<Route, 'path'>, ids: Readonly<Record<string, string>>): string {
  return route.path.replace(/\{\w+\}/, () => {
    const id = ids[kindOf(route)];
    if (id === undefined) throw new Error(`make a ${kindOf(route)} in test/security/estate.ts`);
    return id;
  });
}

const examples = JSON.parse(
  readFileSync(new URL('../../docs/examples.json', import.meta.url), 'utf8'),
) as Record<string, { readonly request?: Readonly<Record<string, unknown>> } | undefined>;

/** A right body of every operation, from its example, with ids of the caller's own records. */
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

/** What workers write by themselves, later. */
const later = ['audit_seals', 'webhook_health', 'announced_work'];

/** Digests of all rows of an organization, but for these tables: the same twice means that nothing has changed. */
export async function rowDigests(
  server: Server,
  orgId: string,
  except: readonly string[] = [],
): Promise<readonly { readonly name: string; readonly size: number; readonly digest: string }[]> {
  await Promise.all([server.requestLog.flush(), server.coverage.flush()]);
  const named = await server.database.query<{ name: string }>(
    {
      name: '',
      text: `select table_name::text as name from information_schema.columns
        where table_schema = 'public' and column_name = 'org_id' order by 1`,
    },
    [],
  );
  const tables = named.map(({ name }) => name).filter((name) => ![...later, ...except].includes(name));
  expect(tables).toContain('payments');
  return server.database.query(
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

/** Where a refused request may leave a trace: the audit trail, its kept answer, and the logs. */
export const traces = ['audit', 'idempotency', 'requests', 'request_minutes', 'api_key_uses', 'coverage'];
