/** The state of the clients, which comes only from responses, and the random requests that they send. */
import type { App, Body, ClientRequest, CompletedRequest } from './servers.ts';

export type Kind = 'payment' | 'refund' | 'dispute' | 'transfer';

export interface KnownRecord {
  readonly kind: Kind;
  readonly id: string;
  readonly organization: string;
  /** The latest version in any response. Of a dispute that a timer opened only the id is known at first. */
  lastSeen: Body;
}

/** Random choices, the same for the same seed. */
export class Random {
  readonly next: () => number;

  constructor(next: () => number) {
    this.next = next;
  }

  /** An integer from 0 up to, but not including, `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  oneIn(of: number): boolean {
    return this.below(of) === 0;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('cannot pick from an empty list');
    return item;
  }
}

export const isOpen: Readonly<Record<Kind, (seen: Body) => boolean>> = {
  payment: ({ allowedActions }) => allowedActions === undefined || allowedActions.length > 0,
  refund: ({ status }) => status === undefined || status === 'pending',
  dispute: ({ status }) => status === undefined || !/won|lost/.test(status),
  transfer: ({ allowedActions }) => allowedActions === undefined || allowedActions.length > 0,
};

/** The part of the state from which requests are drawn. */
export interface Clients {
  readonly apps: readonly App[];
  /** A record of the kind, usually one that is not final; undefined while there is none. */
  pick(kind: Kind, random: Random): KnownRecord | undefined;
  /** An application that may change the record: any of its organization. */
  appFor(record: KnownRecord, random: Random): App;
  /** The time of an application's clock as far as its clients know it. */
  now(app: App): number;
}

/** The state of the clients: requests, responses and records. */
export class ClientState implements Clients {
  readonly apps: readonly App[];
  readonly completed: CompletedRequest[] = [];
  readonly #known = new Map<string, KnownRecord>();
  readonly #clocks = new Map<
    App,
    { readonly now: number; readonly isFrozen: boolean; readonly at: number }
  >();

  constructor(apps: readonly App[]) {
    this.apps = apps;
  }

  pick(kind: Kind, random: Random): KnownRecord | undefined {
    const all = [...this.#known.values()].filter((known) => known.kind === kind);
    const open = all.filter(({ lastSeen }) => isOpen[kind](lastSeen));
    const among = open.length > 0 && !random.oneIn(12) ? open : all;
    return among.length === 0 ? undefined : random.pick(among);
  }

  appFor({ organization }: KnownRecord, random: Random): App {
    return random.pick(this.apps.filter((app) => app.organization === organization));
  }

  now(app: App): number {
    const clock = this.#clocks.get(app);
    if (!clock) return Date.now();
    return clock.isFrozen ? clock.now : clock.now + Date.now() - clock.at;
  }

  record(completed: CompletedRequest): void {
    this.completed.push(completed);
    const { response, app } = completed;
    if (completed.status >= 300) return;
    if (response.object === 'clock') {
      this.#clocks.set(app, {
        now: Date.parse(response.now),
        isFrozen: response.status === 'frozen',
        at: completed.answeredAt,
      });
      for (const { type, id } of response.happened ?? [])
        if (type === 'dispute') this.#update(type, id, app, {});
      return;
    }
    this.#update(response.object, response.id, app, response);
    if (response.object === 'payment' && response.disputeId)
      this.#update('dispute', response.disputeId, app, {});
  }

  #update(kind: Kind, id: string, { organization }: App, seen: Body): void {
    const known = this.#known.get(id);
    if (!known) this.#known.set(id, { kind, id, organization, lastSeen: seen });
    else if ((seen.version ?? 0) > (known.lastSeen.version ?? 0)) known.lastSeen = seen;
  }
}

/** A kind of request and how often it is drawn. */
export interface RequestKind {
  readonly weight: number;
  /** Undefined while no suitable record exists. */
  readonly create: (state: Clients, random: Random) => ClientRequest | undefined;
}

const CURRENCIES = ['EUR', 'USD', 'JPY'];
const DAY_SECONDS = 86_400;
const PAYOUT_SECONDS = 6 * 3_600;

const scenarios: readonly string[] = [
  ...['approve', 'require_action', 'async', 'capture_fails', 'refund_fails', 'refund_pending', 'dispute'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
  ...['decline:insufficient_funds', 'decline:try_again_later', 'decline:stolen_card'],
];

const states: readonly string[] = [
  ...['requires_action', 'processing', 'authorized', 'partially_captured', 'captured', 'settled'],
  ...['partially_refunded', 'refunded', 'disputed', 'charged_back', 'failed', 'canceled', 'expired'],
];

function createPayment(state: Clients, random: Random): ClientRequest {
  const scenarioList = () => Array.from({ length: random.between(1, 3) }, () => random.pick(scenarios));
  const scenario = random.oneIn(5)
    ? {}
    : { scenario: random.oneIn(3) ? scenarioList() : random.pick(scenarios) };
  const method = random.pick(['card', 'wallet', 'bank_debit', 'bank_transfer']);
  return {
    app: random.pick(state.apps),
    path: 'payments',
    body: {
      amount: random.oneIn(5) ? random.between(1, 60) : random.between(100, 5_000_000),
      currency: random.pick(CURRENCIES),
      ...scenario,
      ...(random.oneIn(4) ? {} : { paymentMethod: { type: method } }),
      ...(random.oneIn(3) ? { captureMethod: 'manual' } : {}),
      ...(random.oneIn(2) ? { autoAdvance: true } : {}),
    },
  };
}

function advancePayment(state: Clients, random: Random): ClientRequest | undefined {
  const payment = state.pick('payment', random);
  if (!payment) return undefined;
  const { allowedActions = [], amount = 100 } = payment.lastSeen;
  const form = random.below(3);
  const part = { amount: random.between(1, amount) };
  const body = form === 0 ? {} : form === 1 ? { to: random.pick(states) } : action();
  return { app: state.appFor(payment, random), path: `payments/${payment.id}/advance`, body };

  function action() {
    const name = random.pick(
      allowedActions.length > 0 && !random.oneIn(8) ? allowedActions : ['settle', 'cancel'],
    );
    if (name === 'capture')
      return { action: name, ...(random.oneIn(2) ? part : {}), ...(random.oneIn(3) ? { final: true } : {}) };
    if (name === 'dispute' || name === 'refund') return { action: name, ...(random.oneIn(2) ? part : {}) };
    if (name === 'fail') return { action: name, failureCode: random.pick(['generic_decline', 'lost_card']) };
    return { action: name };
  }
}

function refundPayment(state: Clients, random: Random): ClientRequest | undefined {
  const payment = state.pick('payment', random);
  if (!payment) return undefined;
  const { amountRefundable = 0 } = payment.lastSeen;
  const part = amountRefundable > 0 && random.oneIn(2) ? { amount: random.between(1, amountRefundable) } : {};
  return { app: state.appFor(payment, random), path: `payments/${payment.id}/refund`, body: part };
}

function advanceRefund(state: Clients, random: Random): ClientRequest | undefined {
  const refund = state.pick('refund', random);
  const body = random.oneIn(3) ? {} : { action: random.pick(['succeed', 'fail', 'cancel']) };
  return refund && { app: state.appFor(refund, random), path: `refunds/${refund.id}/advance`, body };
}

function advanceDispute(state: Clients, random: Random): ClientRequest | undefined {
  const dispute = state.pick('dispute', random);
  const evidence = { action: 'submit_evidence', evidence: { receipt: 'signed at the door' } };
  const body = random.pick([
    ...[{}, evidence, { action: 'submit_evidence' }, { action: 'accept' }, { action: 'win' }],
    ...[{ action: 'lose' }, { action: 'escalate' }, { action: 'escalate' }, { to: 'won' }],
  ]);
  return dispute && { app: state.appFor(dispute, random), path: `disputes/${dispute.id}/advance`, body };
}

export const paymentRequests: readonly RequestKind[] = [
  { weight: 30, create: createPayment },
  { weight: 30, create: advancePayment },
  { weight: 10, create: refundPayment },
  { weight: 5, create: advanceRefund },
  { weight: 10, create: advanceDispute },
];

const jumps: readonly number[] = [
  ...[1, 60, 1_800, 3_600, PAYOUT_SECONDS, DAY_SECONDS, DAY_SECONDS, 2 * DAY_SECONDS],
  ...[7 * DAY_SECONDS, 9 * DAY_SECONDS],
];

/** For the first organization only: the other one must not be affected. */
export function clockRequests(movable: readonly App[]): readonly RequestKind[] {
  const move = (
    path: string,
    body: (state: Clients, random: Random, app: App) => ClientRequest['body'],
  ): RequestKind['create'] => {
    return (state, random) => {
      const app = random.pick(movable);
      return { app, path: `clock/${path}`, body: body(state, random, app) };
    };
  };
  const to = (instant: number) => ({ to: new Date(instant).toISOString() });
  return [
    {
      weight: 2,
      create: move('advance', (_, random) => ({
        seconds: Math.max(1, random.pick(jumps) + random.between(-30, 30)),
      })),
    },
    {
      weight: 1,
      create: move('advance', (state, random, app) =>
        to(state.now(app) + random.below(3 * DAY_SECONDS) * 1_000),
      ),
    },
    // Just before the providers pay out: a running clock then passes that hour without a request.
    {
      weight: 0.7,
      create: move('advance', (state, random, app) =>
        to(nextPayout(state.now(app)) - random.between(1, 900)),
      ),
    },
    { weight: 0.3, create: move('freeze', () => ({})) },
    { weight: 0.3, create: move('resume', () => ({})) },
    { weight: 0.3, create: move('reset', () => ({})) },
  ];
}

function nextPayout(now: number): number {
  const day = DAY_SECONDS * 1_000;
  const today = Math.floor(now / day) * day + PAYOUT_SECONDS * 1_000;
  return today > now + 1_000 ? today : today + day;
}

const transferScenarios: readonly string[] = [
  ...['approve', 'review', 'reject', 'return:account_closed', 'fail:provider_error'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
];

const transferStates: readonly string[] = [
  ...[
    'accepted',
    'funded',
    'in_review',
    'converted',
    'sent',
    'completed',
    'completed',
    'returned',
    'refunded',
  ],
  ...['canceled', 'expired', 'failed'],
];

const beneficiary = { beneficiary: { name: 'Ada Lovelace', country: 'GB' } };

function createTransfer(state: Clients, random: Random): ClientRequest {
  const scenarioList = () =>
    Array.from({ length: random.between(1, 3) }, () => random.pick(transferScenarios));
  const amount = random.between(500, 1_000_000);
  return {
    app: random.pick(state.apps),
    path: 'transfers',
    body: {
      sourceCurrency: random.pick(CURRENCIES),
      targetCurrency: random.pick(CURRENCIES),
      ...(random.oneIn(2) ? { sourceAmount: amount } : { targetAmount: amount }),
      scenario: random.oneIn(3) ? scenarioList() : random.pick(transferScenarios),
      ...(random.oneIn(3) ? { fundFrom: 'balance' } : {}),
      ...(random.oneIn(3) ? {} : beneficiary),
      ...(random.oneIn(2) ? { autoAdvance: true } : {}),
    },
  };
}

function advanceTransfer(state: Clients, random: Random): ClientRequest | undefined {
  const transfer = state.pick('transfer', random);
  if (!transfer) return undefined;
  const { allowedActions = [] } = transfer.lastSeen;
  const form = random.below(3);
  const name = random.pick(allowedActions.length > 0 ? allowedActions : ['requote', 'refund']);
  const action = { action: name, ...(name === 'accept' && !random.oneIn(6) ? beneficiary : {}) };
  const body = form === 0 ? {} : form === 1 ? { to: random.pick(transferStates), ...beneficiary } : action;
  return { app: state.appFor(transfer, random), path: `transfers/${transfer.id}/advance`, body };
}

export const transferRequests: readonly RequestKind[] = [
  { weight: 12, create: createTransfer },
  { weight: 22, create: advanceTransfer },
];

/** Whether the OpenAPI document of this server has transfers. */
export async function hasTransfers(url: string): Promise<boolean> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
  return Object.keys(document.paths).some((path) => path.endsWith('developer_api_transfers'));
}

export function drawRequest(kinds: readonly RequestKind[], state: Clients, random: Random): ClientRequest {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (;;) {
    let left = random.next() * total;
    const drawn = kinds.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    const request = drawn?.create(state, random);
    if (request) return request;
  }
}
