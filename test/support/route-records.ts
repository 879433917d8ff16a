import type { Body } from './api-client.ts';
import { idlePlan, nowhere } from './populated-tenant.ts';

/** Calls of one application by a caller who may do everything. Both fail the test if the response is an error. */
interface Caller {
  post(path: string, body?: unknown): Promise<Body>;
  get(path: string, query?: string): Promise<Body>;
}

export const replayWindow = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', select: 'failed' };

const payments = 'developer_api_payments';
const faultPlans = 'developer_api_fault_plans';
const deliveries = 'developer_api_webhook_deliveries';

/** Creates the record that an API route needs, in a state in which the route's action is allowed. */
export class RouteRecords {
  readonly #caller: Caller;
  readonly #webhooksByAction = new Map<string, Body>();

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The id for the route's path; empty if the path has none. */
  async idFor(path: string): Promise<string> {
    if (!path.includes('{')) return '';
    const { post } = this.#caller;
    const [collection = ''] = path.split('/');
    switch (collection) {
      case 'developer_api_customers':
        return (await post(collection, { name: 'Ada' })).id;
      case 'developer_api_transfers': {
        const beneficiary = { name: 'Grace' };
        const body = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, beneficiary };
        return (await post(collection, body)).id;
      }
      case payments:
        return path.endsWith('/refund') ? this.#payment('captured') : this.#payment();
      case 'developer_api_refunds':
        return (await post(`${payments}/${await this.#payment('captured')}/refund`, {})).id;
      case 'developer_api_disputes':
        return String(
          (await post(`${payments}/${await this.#payment()}/advance`, { to: 'disputed' })).disputeId,
        );
      case 'developer_api_settlements':
        return this.#settlementDate();
      case 'developer_api_requests':
        return (await post('developer_api_customers', { name: 'Ada' })).requestId;
      case faultPlans:
        return this.#faultPlan();
      case 'developer_api_webhook_replays':
        return (await post(`${deliveries}/replay`, replayWindow)).id;
      case 'developer_api_webhook_events':
        return this.#event();
      case 'developer_api_webhooks':
      case 'webhooks':
        return this.#webhook(path);
      case deliveries:
        return this.#delivery(path);
      default:
        throw new Error(`create a record of ${collection} in test/support/route-records.ts`);
    }
  }

  async #payment(to?: string): Promise<string> {
    const body = { amount: 5_000, currency: 'EUR', scenario: 'refund_pending' };
    const { id } = await this.#caller.post(payments, body);
    if (to !== undefined) await this.#caller.post(`${payments}/${id}/advance`, { to });
    return id;
  }

  async #settlementDate(): Promise<string> {
    const { id } = await this.#caller.post(payments, { amount: 5_000, currency: 'EUR' });
    const { settledAt } = await this.#caller.post(`${payments}/${id}/advance`, { to: 'settled' });
    return String(settledAt).slice(0, 10);
  }

  /** Reuses an active plan, because an application may have at most twenty. */
  async #faultPlan(): Promise<string> {
    const [active] = (await this.#caller.get(faultPlans, 'status=active')).data;
    return (active ?? (await this.#caller.post(faultPlans, idlePlan))).id;
  }

  async #event(): Promise<string> {
    return (await this.#caller.post('developer_api_webhook_events', { type: 'payment.created' })).id;
  }

  /**
   * An endpoint where nothing listens, so that no test waits for a response. There is one for each action, because an
   * application may have at most a hundred.
   */
  async #webhook(path: string): Promise<string> {
    const { post, get } = this.#caller;
    const webhooks = 'developer_api_webhooks';
    const action = path.split('/').at(-1) ?? '';
    const known = this.#webhooksByAction.get(action);
    const isUsable = known !== undefined && (await get(`${webhooks}/${known.id}`)).status !== 'deleted';
    const webhook = isUsable ? known : await post(webhooks, { url: nowhere });
    this.#webhooksByAction.set(action, webhook);
    const { id } = webhook;
    const { status } = await get(`${webhooks}/${id}`);
    if (action === 'enable' && status === 'enabled') await post(`${webhooks}/${id}/disable`);
    if (action === 'disable' && status === 'disabled') await post(`${webhooks}/${id}/enable`);
    return id;
  }

  async #delivery(path: string): Promise<string> {
    const query = `webhookId=${await this.#webhook(path)}&eventId=${await this.#event()}`;
    return (await this.#caller.get(deliveries, query)).data[0]?.id ?? '';
  }
}
