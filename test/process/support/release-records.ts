/** Records of every kind and state, written and read by API calls that every release since 0.1.0 has. */
import { expect } from 'vitest';
import { type Answer, API_KEY, call, post, whileUnavailable } from './client.ts';

const API = '/_api/developer_api_';

/** A write and its response. */
export interface Write {
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: object;
  readonly answer: Answer;
}

interface Machine {
  readonly resource: string;
  readonly states: readonly string[];
}

/** States that need an option at the creation of the record. */
const options: Readonly<Record<string, object>> = {
  requires_action: { scenario: 'require_action' },
  partially_captured: { captureMethod: 'manual' },
  in_review: { scenario: 'review' },
};

export class RecordWriter {
  readonly writes: Write[] = [];
  readonly #url: string;
  #count = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async write(path: string, body: object = {}): Promise<Answer> {
    this.#count += 1;
    const idempotencyKey = `before-${this.#count}`;
    const answer = await whileUnavailable(() => post(this.#url + API + path, body, idempotencyKey));
    this.writes.push({ path, idempotencyKey, body, answer });
    return answer;
  }

  async #must(path: string, body: object = {}): Promise<Answer['body']> {
    const answer = await this.write(path, body);
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }

  /** Freezes the clock first, so that no record changes and no delivery is retried until a test advances it. */
  async writeAll(receiverUrl: string): Promise<void> {
    await this.#must('clock/freeze');
    const customer = await this.#must('customers', {
      name: 'Ada',
      reference: 'ada',
      metadata: { tier: 'gold' },
    });
    const archived = await this.#must('customers', { name: 'Bo' });
    await this.#must(`customers/${archived.id}/archive`);
    const webhook = await this.#must('webhooks', { url: `${receiverUrl}later`, retryProfile: 'standard' });
    const disabled = await this.#must('webhooks', { url: `${receiverUrl}disabled` });
    await this.#must(`webhooks/${disabled.id}/disable`);
    await this.#writePayments(String(customer.id));
    await this.#writeTransfers(String(customer.id));
    await this.#must('clock/advance', { seconds: 3_600 });
    await this.#must('fault_plans', {
      ...{ on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] },
    });
    await this.#must(`webhooks/${webhook.id}/rotate_secret`);
    await this.#must('webhook_events', { type: 'payment.created', data: { note: 'created by hand' } });
    // A response that the state of the record refuses is stored, too.
    await this.write(`customers/${archived.id}/update`, { name: 'Bob' });
  }

  async #writePayments(customerId: string): Promise<void> {
    const create = (more: object = {}) =>
      this.#must('payments', { amount: 12_50, currency: 'EUR', customerId, reference: 'order', ...more });
    const inStatus = async (status: string) => {
      const payment = await create(options[status]);
      if (status !== 'pending') await this.#must(`payments/${payment.id}/advance`, { to: status });
    };
    const refunded = async (action?: string) => {
      const payment = await create({ scenario: 'refund_pending' });
      await this.#must(`payments/${payment.id}/advance`, { to: 'captured' });
      const refund = await this.#must(`payments/${payment.id}/refund`, { amount: 100, reason: 'returned' });
      if (action) await this.#must(`refunds/${refund.id}/advance`, { action });
    };
    const disputed = async (...actions: readonly string[]) => {
      const payment = await create();
      const { disputeId } = await this.#must(`payments/${payment.id}/advance`, { to: 'disputed' });
      for (const action of actions) {
        const evidence = action === 'submit_evidence' ? { evidence: { receipt: 'signed' } } : {};
        await this.#must(`disputes/${String(disputeId)}/advance`, { action, ...evidence });
      }
    };
    await Promise.all([
      ...(await this.#statesOf('payment')).map(inStatus),
      ...['succeed', 'fail', 'cancel', undefined].map(refunded),
      ...[disputed(), disputed('accept'), disputed('submit_evidence')],
      ...[disputed('submit_evidence', 'win'), disputed('submit_evidence', 'lose')],
    ]);
  }

  async #writeTransfers(customerId: string): Promise<void> {
    const inStatus = async (status: string) => {
      const transfer = await this.#must('transfers', {
        ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 50_00, customerId },
        ...{ beneficiary: { name: 'Bo' }, reference: 'rent', ...options[status] },
      });
      if (status !== 'quoted') await this.#must(`transfers/${transfer.id}/advance`, { to: status });
    };
    await Promise.all((await this.#statesOf('transfer')).map(inStatus));
  }

  async #statesOf(resource: string): Promise<readonly string[]> {
    const { body } = await call(`${this.#url}${API}state_machines`);
    const machine = (body.machines as readonly Machine[]).find((one) => one.resource === resource);
    return machine?.states ?? [];
  }
}

const lists = [
  ...['payments', 'refunds', 'disputes', 'transfers', 'customers', 'settlements'],
  ...['webhooks', 'webhook_events', 'webhook_deliveries', 'fault_plans', 'ledger_entries'],
];
const parts: Readonly<Record<string, readonly string[]>> = {
  payments: ['history', 'provider_events', 'ledger_entries'],
  transfers: ['history', 'provider_events', 'ledger_entries'],
};
const single = ['status', 'balances', 'clock', 'fx_rates', 'reconciliation'];

/** A node answers requests of one client on several connections at the same time. */
const AT_ONCE = 8;

type Row = Readonly<Record<string, unknown>>;

/** Every record that a key can read, by path, as lists, one by one, and with its history. */
export async function readRecords(url: string, key = API_KEY): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const read = async (path: string): Promise<Answer['body']> => {
    const { status, body } = await whileUnavailable(() => call(url + API + path, { key }));
    expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
    const { requestId: _own, ...content } = body;
    found.set(path, content);
    return body;
  };
  for (const path of single) await read(path);
  for (const list of lists) {
    const rows: Row[] = [];
    for (let cursor = ''; ; ) {
      const body = await read(`${list}?limit=100${cursor}`);
      rows.push(...(body.data as readonly Row[]));
      if (body.hasMore !== true) break;
      cursor = `&cursor=${encodeURIComponent(String(body.nextCursor))}`;
    }
    if (list === 'ledger_entries') continue;
    const paths = rows.flatMap(({ id, date }) => {
      const path = `${list}/${String(id ?? date)}`;
      return [path, ...(parts[list] ?? []).map((part) => `${path}/${part}?limit=100`)];
    });
    for (let at = 0; at < paths.length; at += AT_ONCE)
      await Promise.all(paths.slice(at, at + AT_ONCE).map(read));
  }
  return found;
}

/** Texts that a release may rephrase, a frozen clock's distance from the real time, and lists that grow with the actions of a release. */
const changes = [/\.failure\.message$/, /\.offsetSeconds$/, /\.allowedActions$/];

/** What a release changed in the records of another, with both values. A new field is not a change. */
export function changedRecords(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): readonly string[] {
  const added = [...after.keys()].filter((path) => !before.has(path));
  return [
    ...added.map((path) => `${path} was added`),
    ...[...before].flatMap(([path, content]) => changedFields(path, content, after.get(path))),
  ];
}

const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 200);

function changedFields(at: string, before: unknown, after: unknown): readonly string[] {
  if (changes.some((pattern) => pattern.test(at)) || Object.is(before, after)) return [];
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  const isSameKind = isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after);
  if (!isSameKind || (Array.isArray(before) && before.length !== (after as unknown[]).length))
    return [`${at}: ${shown(before)} became ${shown(after)}`];
  return Object.entries(before as object).flatMap(([name, value]) =>
    changedFields(`${at}.${name}`, value, (after as Record<string, unknown>)[name]),
  );
}
