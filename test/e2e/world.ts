import { openReceiver, type Receiver, withStatus } from '../support/receiver.ts';
import { type Body, type Caller, callerOf } from './caller.ts';

const password = 'correct horse battery';
export const owner = { email: 'olga@acme.test', password };
export const viewer = { email: 'vera@acme.test', password };

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

/** Names that are long, and that somebody might take for markup. */
const longName = `Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft`;
const markup = '<b onmouseover="alert(1)">Bold & sons</b>';

const users = [
  { ...owner, role: 'owner' },
  { ...viewer, role: 'viewer' },
];

/** Organizations of the same two people: much has happened in the first, nothing in the second, the third has no application. */
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

/** One record of each kind, whose page is visited. */
export interface World {
  readonly caller: Caller;
  readonly payment: Body;
  /** One whose description has a word that is longer than a phone is wide. */
  readonly wordyPayment: Body;
  readonly customer: Body;
  readonly transfer: Body;
  readonly refund: Body;
  readonly dispute: Body;
  readonly webhook: Body;
  readonly event: Body;
  readonly delivery: Body;
  close(): Promise<void>;
}

/** Records in every state they can have, deliveries that arrive and that do not, and requests that are refused. */
export async function populate(url: string): Promise<World> {
  const caller = callerOf(url, key);
  const [good, bad] = await Promise.all([openReceiver(), openReceiver(withStatus(500))]);
  const webhook = await webhooks(caller, good, bad);
  const customer = await customers(caller);
  const { payment, wordyPayment } = await payments(caller, customer.id);
  const [refund, dispute] = await Promise.all([refunds(caller), disputes(caller)]);
  const transfer = await transfers(caller, customer.id);
  await caller.post('clock/advance', { seconds: 3 * daySeconds });
  await caller.post('clock/reset');
  await refusals(caller);
  await Promise.all([good.waitFor(20), bad.waitFor(5)]);
  const first = async (name: string) => ((await caller.get(name)).data as readonly Body[])[0] as Body;
  return {
    ...{ caller, webhook, customer, payment, wordyPayment, refund, dispute, transfer },
    event: await first('webhook_events?type=payment.captured&limit=1'),
    delivery: await first(`webhook_deliveries?webhookId=${webhook.id}&limit=1`),
    close: async () => {
      await Promise.all([good.close(), bad.close()]);
    },
  };
}

async function webhooks(caller: Caller, good: Receiver, bad: Receiver): Promise<Body> {
  await caller.post('webhooks', {
    url: good.url,
    description: markup,
    eventTypes: ['payment.*', 'refund.*'],
  });
  const off = await caller.post('webhooks', {
    url: `${good.url}/${'deep/'.repeat(40)}`,
    retryProfile: 'fast',
  });
  await caller.post(`webhooks/${off.id}/disable`);
  return caller.post('webhooks', { url: bad.url, retryProfile: 'none' });
}

async function customers(caller: Caller): Promise<Body> {
  const gone = await caller.post('customers', { name: 'Gone', email: 'gone@example.test' });
  await caller.post(`customers/${gone.id}/archive`);
  await caller.post('customers', { name: markup });
  return caller.post('customers', {
    name: longName,
    email: 'grace@example.test',
    reference: 'customer-1',
    metadata: { plan: 'gold', note: markup },
  });
}

async function payments(caller: Caller, customerId: string) {
  const made = await Promise.all(
    paymentStates.map(async (state, place) => {
      const payment = await caller.post('payments', {
        amount: 120_000 + place,
        currency: currencies[place % currencies.length],
        captureMethod: place % 2 === 0 ? 'automatic' : 'manual',
        description: state === 'settled' ? `${longName}${longName} ${markup}` : `Order in state ${state}`,
        reference: `order-${state}`,
        metadata: { state, note: markup },
        customerId,
      });
      if (state !== 'pending') await caller.post(`payments/${payment.id}/advance`, { to: state });
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
    const { id } = await caller.post('payments', { amount: 50_000, currency: 'EUR', scenario });
    await caller.post(`payments/${id}/advance`, { to: 'captured' });
  }
  await caller.post('payments', { amount: 999_999_999_999, currency: 'KWD', autoAdvance: true });
  const of = (state: string) => made[paymentStates.indexOf(state)] as Body;
  return { payment: of('captured'), wordyPayment: of('settled') };
}

async function captured(caller: Caller, scenario: string): Promise<string> {
  const { id } = await caller.post('payments', { amount: 9_900, currency: 'EUR', scenario });
  await caller.post(`payments/${id}/advance`, { to: 'captured' });
  return id;
}

async function refunds(caller: Caller): Promise<Body> {
  const asked = { amount: 3_300, reason: `Broken on the way. ${markup}`, metadata: { note: markup } };
  await caller.post(`payments/${await captured(caller, 'refund_fails')}/refund`, asked);
  await caller.post(`payments/${await captured(caller, 'approve')}/refund`, asked);
  return caller.post(`payments/${await captured(caller, 'refund_pending')}/refund`, asked);
}

async function disputes(caller: Caller): Promise<Body> {
  const open = async () => {
    const id = await captured(caller, 'approve');
    await caller.post(`payments/${id}/advance`, { action: 'dispute', reason: 'Never arrived' });
    const { data } = await caller.get(`disputes?paymentId=${id}`);
    return (data as readonly Body[])[0] as Body;
  };
  const [answered, won, lost, untouched] = await Promise.all([open(), open(), open(), open()]);
  const move = ({ id }: Body, body: object) => caller.post(`disputes/${id}/advance`, body);
  const evidence = { action: 'submit_evidence', evidence: { receipt: longName, letter: markup } };
  await move(won, evidence);
  await move(won, { action: 'win' });
  await move(lost, { action: 'accept' });
  await move(answered, evidence);
  return untouched;
}

async function transfers(caller: Caller, customerId: string): Promise<Body> {
  const made = await Promise.all(
    transferStates.map(async (state) => {
      const transfer = await caller.post('transfers', {
        ...{ sourceCurrency: 'EUR', targetCurrency: 'JPY', sourceAmount: 250_000, customerId },
        beneficiary: { name: state === 'completed' ? longName : markup },
        reference: `transfer-${state}`,
      });
      if (state !== 'quoted') await caller.post(`transfers/${transfer.id}/advance`, { to: state });
      return transfer;
    }),
  );
  return made[transferStates.indexOf('sent')] as Body;
}

async function refusals(caller: Caller): Promise<void> {
  await caller.try('payments', { amount: 0, currency: 'EUR' });
  await caller.try('payments', { amount: 1, currency: 'XXX' });
  await caller.try('payments/pay_00000000000000000000000000');
  await caller.try('nothing_of_that_name');
}
