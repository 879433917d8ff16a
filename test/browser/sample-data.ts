import { openReceiver, type Receiver, withStatus } from '../support/receiver.ts';
import { type Api, apiOf, type Body } from './api.ts';

const password = 'correct horse battery';
export const owner = { email: 'olga@acme.test', password };
export const viewer = { email: 'vera@acme.test', password };

export const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

/** A word that is longer than a phone is wide, and a name that contains markup. */
const longName = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
const markup = '<b onmouseover="alert(1)">Bold & sons</b>';

const users = [
  { ...owner, role: 'owner' },
  { ...viewer, role: 'viewer' },
];

/** Three organizations of the same two people: one with records, one without records, one without an application. */
export const seed = {
  organizations: [
    {
      name: 'Acme',
      users,
      applications: [
        {
          name: 'Web shop',
          apiKeys: [
            { name: 'Checkout server', key, scopes },
            {
              name: `Reports of ${longName}`,
              key: key.replace(/01$/, '02'),
              scopes: ['payments:read'],
              allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'],
              expiresAt: '2099-01-01T00:00:00Z',
            },
            { name: 'Old', key: key.replace(/01$/, '03'), scopes, revoked: true },
          ],
        },
        { name: markup, provider: 'tidewater', fx: { marginBasisPoints: 30, rates: { 'EUR/USD': '1.25' } } },
      ],
    },
    { name: 'Newcomers', users, applications: [{ name: 'First try' }] },
    { name: 'Unbuilt', users },
  ],
};

const paymentStates = [
  'pending',
  'requires_action',
  'processing',
  'authorized',
  'partially_captured',
  'captured',
  'settled',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'failed',
  'canceled',
  'expired',
];
const transferStates = [
  'quoted',
  'accepted',
  'funded',
  'in_review',
  'converted',
  'sent',
  'completed',
  'returned',
  'refunded',
  'canceled',
  'expired',
  'failed',
];
const currencies = ['EUR', 'USD', 'JPY', 'KWD'];
const daySeconds = 86_400;

/** One record of each kind, whose page is checked. */
export interface SampleData {
  readonly payment: Body;
  /** Its description contains a word that is longer than a phone is wide. */
  readonly longWordPayment: Body;
  readonly customer: Body;
  readonly transfer: Body;
  readonly refund: Body;
  readonly dispute: Body;
  readonly webhook: Body;
  readonly event: Body;
  readonly delivery: Body;
  close(): Promise<void>;
}

/** Creates records in every state, deliveries that succeed and that fail, and requests that the server rejects. */
export async function createSampleData(url: string): Promise<SampleData> {
  const api = apiOf(url, key);
  const [good, bad] = await Promise.all([openReceiver(), openReceiver(withStatus(500))]);
  const webhook = await webhooks(api, good, bad);
  const customer = await customers(api);
  const { payment, longWordPayment } = await payments(api, customer.id);
  const [refund, dispute] = await Promise.all([refunds(api), disputes(api)]);
  const transfer = await transfers(api, customer.id);
  await api.post('clock/advance', { seconds: 3 * daySeconds });
  await api.post('clock/reset');
  await rejectedRequests(api);
  await Promise.all([good.waitFor(20), bad.waitFor(5)]);
  const first = async (name: string) => (await api.list(name))[0] as Body;
  return {
    ...{ webhook, customer, payment, longWordPayment, refund, dispute, transfer },
    event: await first('webhook_events?type=payment.captured&limit=1'),
    delivery: await first(`webhook_deliveries?webhookId=${webhook.id}&limit=1`),
    close: async () => {
      await Promise.all([good.close(), bad.close()]);
    },
  };
}

async function webhooks(api: Api, good: Receiver, bad: Receiver): Promise<Body> {
  await api.post('webhooks', {
    url: good.url,
    description: markup,
    eventTypes: ['payment.*', 'refund.*'],
  });
  const off = await api.post('webhooks', {
    url: `${good.url}/${'deep/'.repeat(40)}`,
    retryProfile: 'fast',
  });
  await api.post(`webhooks/${off.id}/disable`);
  return api.post('webhooks', { url: bad.url, retryProfile: 'none' });
}

async function customers(api: Api): Promise<Body> {
  const gone = await api.post('customers', { name: 'Gone', email: 'gone@example.test' });
  await api.post(`customers/${gone.id}/archive`);
  await api.post('customers', { name: markup });
  return api.post('customers', {
    name: longName,
    email: 'grace@example.test',
    reference: 'customer-1',
    metadata: { plan: 'gold', note: markup },
  });
}

async function payments(api: Api, customerId: string) {
  const created = await Promise.all(
    paymentStates.map(async (state, index) => {
      const payment = await api.post('payments', {
        amount: 120_000 + index,
        currency: currencies[index % currencies.length],
        captureMethod: index % 2 === 0 ? 'automatic' : 'manual',
        description: state === 'settled' ? `${longName}${longName} ${markup}` : `Order in state ${state}`,
        reference: `order-${state}`,
        metadata: { state, note: markup },
        customerId,
      });
      if (state !== 'pending') await api.post(`payments/${payment.id}/advance`, { to: state });
      return payment;
    }),
  );
  for (const scenario of [
    'settle_short',
    'settle_missing',
    'settle_duplicate',
    'settle_unknown',
    'approve',
  ]) {
    const { id } = await api.post('payments', { amount: 50_000, currency: 'EUR', scenario });
    await api.post(`payments/${id}/advance`, { to: 'captured' });
  }
  await api.post('payments', { amount: 999_999_999_999, currency: 'KWD', autoAdvance: true });
  const inState = (state: string) => created[paymentStates.indexOf(state)] as Body;
  return { payment: inState('captured'), longWordPayment: inState('settled') };
}

async function captured(api: Api, scenario: string): Promise<string> {
  const { id } = await api.post('payments', { amount: 9_900, currency: 'EUR', scenario });
  await api.post(`payments/${id}/advance`, { to: 'captured' });
  return id;
}

async function refunds(api: Api): Promise<Body> {
  const body = { amount: 3_300, reason: `Broken on the way. ${markup}`, metadata: { note: markup } };
  await api.post(`payments/${await captured(api, 'refund_fails')}/refund`, body);
  await api.post(`payments/${await captured(api, 'approve')}/refund`, body);
  return api.post(`payments/${await captured(api, 'refund_pending')}/refund`, body);
}

async function disputes(api: Api): Promise<Body> {
  const open = async () => {
    const id = await captured(api, 'approve');
    await api.post(`payments/${id}/advance`, { action: 'dispute', reason: 'Never arrived' });
    return (await api.list(`disputes?paymentId=${id}`))[0] as Body;
  };
  const [answered, won, lost, unanswered] = await Promise.all([open(), open(), open(), open()]);
  const advance = ({ id }: Body, body: object) => api.post(`disputes/${id}/advance`, body);
  const evidence = { action: 'submit_evidence', evidence: { receipt: longName, letter: markup } };
  await advance(won, evidence);
  await advance(won, { action: 'win' });
  await advance(lost, { action: 'accept' });
  await advance(answered, evidence);
  return unanswered;
}

async function transfers(api: Api, customerId: string): Promise<Body> {
  const created = await Promise.all(
    transferStates.map(async (state) => {
      const transfer = await api.post('transfers', {
        ...{ sourceCurrency: 'EUR', targetCurrency: 'JPY', sourceAmount: 250_000, customerId },
        beneficiary: { name: state === 'completed' ? longName : markup },
        reference: `transfer-${state}`,
      });
      if (state !== 'quoted') await api.post(`transfers/${transfer.id}/advance`, { to: state });
      return transfer;
    }),
  );
  return created[transferStates.indexOf('sent')] as Body;
}

async function rejectedRequests(api: Api): Promise<void> {
  await api.status('payments', { amount: 0, currency: 'EUR' });
  await api.status('payments', { amount: 1, currency: 'XXX' });
  await api.status('payments/pay_00000000000000000000000000');
  await api.status('unknown_operation');
}
