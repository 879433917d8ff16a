import type { Server } from '../../src/server.ts';
import { type ApiClient, type Body, expectOk } from '../support/api-client.ts';
import { payments } from '../support/payments.ts';

/** Creates at least one record of every kind. */
export async function populate(client: ApiClient, webhookUrl: string): Promise<Populated> {
  const post = async (path: string, body?: unknown) => expectOk(await client.post(path, body));
  const webhook = await post('developer_api_webhooks', { url: webhookUrl, retryProfile: 'none' });
  const disabled = await post('developer_api_webhooks', { url: webhookUrl });
  await post(`developer_api_webhooks/${disabled.id}/disable`);
  await post(`developer_api_webhooks/${webhook.id}/rotate_secret`, { overlapSeconds: 3_600 });
  const customer = await post('developer_api_customers', { name: 'Ada', metadata: { 'ünïcode "': '1\n2' } });
  const payment = async (scenario: string, to?: string): Promise<Body> => {
    const body = { amount: 1_000, currency: 'EUR', customerId: customer.id, scenario };
    const created = await post(payments, body);
    return to === undefined ? created : post(`${payments}/${created.id}/advance`, { to });
  };
  await payment('approve');
  await payment('approve', 'authorized');
  const settled = await payment('approve', 'settled');
  await payment('settle_short', 'settled');
  await payment('dispute', 'disputed');
  const captured = await payment('refund_pending', 'captured');
  await post(`${payments}/${captured.id}/refund`, { amount: 100 });
  const transfer = {
    ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 },
    beneficiary: { name: 'Grace' },
  };
  await post('developer_api_transfers', transfer);
  const { id: sent } = await post('developer_api_transfers', transfer);
  await post(`developer_api_transfers/${sent}/advance`, { to: 'sent' });
  const idle = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['transfer.returned'] };
  await post('developer_api_fault_plans', idle);
  const event = await post('developer_api_webhook_events', { type: 'payment.created' });
  await post(`developer_api_webhook_events/${event.id}/replay`);
  const window = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
  await post('developer_api_webhook_deliveries/replay', window);
  return { webhook, customer, payment: settled };
}

export interface Populated {
  readonly webhook: Body;
  readonly customer: Body;
  readonly payment: Body;
}

/** Waits until no delivery to an enabled webhook is pending. */
export async function settle({ database }: Server, orgId: string): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    const [row] = await database.query<{ count: number }>(
      {
        name: '',
        text: `select count(*)::integer as count from deliveries d join webhooks w on w.org_id = d.org_id and w.id = d.webhook_id
          where d.org_id = $1 and d.status = 'pending' and w.status = 'enabled'`,
      },
      [orgId],
    );
    if (row?.count === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('deliveries are still pending');
}

/** How many rows an organization has in each table. */
export async function countRows(
  { database }: Server,
  orgId: string,
  tables: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await database.query<{ count: number }>(
      { name: '', text: `select count(*)::integer as count from ${table} where org_id = $1` },
      [orgId],
    );
    counts[table] = row?.count ?? 0;
  }
  return counts;
}
