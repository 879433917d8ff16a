/**
 * What the design says of transfers (sections 7 and 8), written down a second time: plain numbers, one function a move.
 * The matrix compares the server with this, so nothing here may call the server's own parts.
 */
export interface TransferFacts {
  readonly status: string;
  readonly fundFrom: 'external' | 'balance';
  readonly hasBeneficiary: boolean;
  readonly scenario: string | readonly string[];
  readonly sends: number;
  readonly failureCode: string | null;
  readonly returnCode: string | null;
  readonly reconciliation: string | null;
  /** Of what happened and was not undone; sorted. */
  readonly instants: readonly string[];
}

/** 100.00 EUR at 1.25 are 125.00 USD, and 0.5 % of them are 0.50 EUR. */
export const amounts = { source: 10_000, target: 12_500, fee: 50, total: 10_050 } as const;

export const transferStates = [
  ...['quoted', 'accepted', 'funded', 'in_review', 'converted', 'sent', 'completed'],
  ...['returned', 'refunded', 'canceled', 'expired', 'failed'],
];

/** The table of section 8. */
export const transferTable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  requote: { quoted: 'quoted', expired: 'quoted' },
  accept: { quoted: 'accepted' },
  fund: { accepted: 'funded' },
  review: { funded: 'in_review' },
  release: { in_review: 'funded' },
  reject: { in_review: 'failed' },
  convert: { funded: 'converted' },
  send: { converted: 'sent' },
  complete: { sent: 'completed' },
  return: { sent: 'returned', completed: 'returned' },
  resend: { returned: 'sent' },
  refund: { returned: 'refunded' },
  cancel: { quoted: 'canceled', accepted: 'canceled', funded: 'canceled' },
  expire: { quoted: 'expired', accepted: 'expired' },
  fail: { accepted: 'failed', funded: 'failed', in_review: 'failed', converted: 'failed' },
};

export interface TransferParams {
  readonly beneficiary?: { readonly name: string };
  readonly returnCode?: string;
  readonly failureCode?: string;
}

export interface TransferTold {
  readonly resource: string;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
}

export interface TransferPosted {
  readonly reason: string;
  readonly postings: Readonly<Record<string, number>>;
}

export interface TransferMoved {
  readonly facts: TransferFacts;
  readonly told: readonly TransferTold[];
  readonly entries: readonly TransferPosted[];
}

export type TransferRefused = { readonly code: string };

export function openTransferActions({ status }: TransferFacts): readonly string[] {
  return Object.keys(transferTable).filter((action) => transferTable[action]?.[status] !== undefined);
}

const scenarioNow = ({ scenario, sends }: TransferFacts): string => {
  if (typeof scenario === 'string') return scenario;
  return scenario[Math.max(sends, 1) - 1] ?? scenario.at(-1) ?? 'approve';
};

const codeOf = (scenario: string, kind: 'return' | 'fail'): string | undefined =>
  scenario.startsWith(`${kind}:`) ? scenario.slice(kind.length + 1) : undefined;

const payer = ({ fundFrom }: TransferFacts) =>
  fundFrom === 'balance' ? 'merchant_available EUR' : 'bank EUR';

const { source, target, fee, total } = amounts;

function postedBy(facts: TransferFacts, action: string): Readonly<Record<string, number>> {
  const { status } = facts;
  switch (action) {
    case 'fund':
      return { [payer(facts)]: total, 'transfer_funding EUR': -total };
    case 'convert':
      return {
        'transfer_funding EUR': total,
        'fx_position EUR': -source,
        'fees EUR': -fee,
        'fx_position USD': target,
        'payout_clearing USD': -target,
      };
    case 'send':
    case 'resend':
      return { 'payout_clearing USD': target, 'payouts_in_transit USD': -target };
    case 'complete':
      return { 'payouts_in_transit USD': target, 'bank USD': -target };
    case 'return':
      return {
        [status === 'completed' ? 'bank USD' : 'payouts_in_transit USD']: target,
        'payout_clearing USD': -target,
      };
    case 'refund':
    case 'cancel':
    case 'reject':
    case 'fail':
      if (status === 'funded' || status === 'in_review')
        return { 'transfer_funding EUR': total, [payer(facts)]: -total };
      if (status === 'converted' || status === 'returned')
        return {
          'payout_clearing USD': target,
          'fx_position USD': -target,
          'fx_position EUR': source,
          'fees EUR': fee,
          [payer(facts)]: -total,
        };
      return {};
    default:
      return {};
  }
}

/** Which moments a move adds and which it takes back. */
const moments: Readonly<Record<string, readonly [added: readonly string[], gone: readonly string[]]>> = {
  requote: [[], ['acceptedAt', 'expiredAt', 'fundingExpiresAt']],
  accept: [['acceptedAt', 'fundingExpiresAt'], []],
  fund: [['fundedAt'], ['fundingExpiresAt']],
  review: [['reviewedAt'], []],
  release: [[], []],
  reject: [['failedAt'], []],
  convert: [['convertedAt'], []],
  send: [['sentAt'], []],
  complete: [['completedAt'], []],
  return: [['returnedAt'], []],
  resend: [['sentAt'], ['completedAt', 'returnedAt']],
  refund: [['refundedAt'], []],
  cancel: [['canceledAt'], ['fundingExpiresAt']],
  expire: [['expiredAt'], ['fundingExpiresAt']],
  fail: [['failedAt'], ['fundingExpiresAt']],
};

const reported: Readonly<Record<string, string>> = {
  settle_short: 'amount_mismatch',
  settle_missing: 'missing_at_provider',
  settle_duplicate: 'duplicate',
};

/** What else a move changes. */
function changedBy(facts: TransferFacts, action: string, params: TransferParams): Partial<TransferFacts> {
  const scenario = scenarioNow(facts);
  switch (action) {
    case 'accept':
      return { hasBeneficiary: true };
    case 'send':
      return { sends: facts.sends + 1 };
    case 'resend':
      return { sends: facts.sends + 1, returnCode: null };
    case 'complete':
      return { reconciliation: reported[scenario] ?? 'matched' };
    case 'return':
      return {
        returnCode: params.returnCode ?? codeOf(scenario, 'return') ?? 'account_closed',
        ...(facts.status === 'completed' ? { reconciliation: 'matched' } : {}),
      };
    case 'reject':
      return { failureCode: params.failureCode ?? 'compliance_rejected' };
    case 'fail':
      return { failureCode: params.failureCode ?? codeOf(scenario, 'fail') ?? 'payout_rejected' };
    default:
      return {};
  }
}

/** What an action must lead to: the move with all it leaves behind, or the code of the refusal. */
export function expectTransferMove(
  facts: TransferFacts,
  action: string,
  params: TransferParams = {},
): TransferMoved | TransferRefused {
  const to = transferTable[action]?.[facts.status];
  if (to === undefined) return { code: 'invalid_state_transition' };
  if (action === 'accept' && !facts.hasBeneficiary && !params.beneficiary)
    return { code: 'beneficiary_missing' };
  const [added, gone] = moments[action] ?? [[], []];
  const instants = [...new Set([...facts.instants.filter((name) => !gone.includes(name)), ...added])].sort();
  const postings = postedBy(facts, action);
  return {
    facts: { ...facts, ...changedBy(facts, action, params), status: to, instants },
    told: [{ resource: 'transfer', action, from: facts.status, to, event: `transfer.${to}` }],
    entries: Object.keys(postings).length === 0 ? [] : [{ reason: action, postings }],
  };
}

/** What the scenario does next; undefined where the transfer waits for somebody. */
function nextAction(facts: TransferFacts): string | undefined {
  const scenario = scenarioNow(facts);
  const isLookedAt = scenario === 'review' || scenario === 'reject';
  switch (facts.status) {
    case 'quoted':
      return 'accept';
    case 'accepted':
      return 'fund';
    case 'funded':
      return isLookedAt && !facts.instants.includes('reviewedAt') ? 'review' : 'convert';
    case 'in_review':
      return scenario === 'reject' ? 'reject' : 'release';
    case 'converted':
      return codeOf(scenario, 'fail') === undefined ? 'send' : 'fail';
    case 'sent':
      return codeOf(scenario, 'return') === undefined ? 'complete' : 'return';
    default:
      return undefined;
  }
}

export function expectTransferNext(facts: TransferFacts): TransferMoved | TransferRefused {
  const action = nextAction(facts);
  return action === undefined ? { code: 'invalid_state_transition' } : expectTransferMove(facts, action);
}

/** The shortest way by the table; what is refused on it is the answer. */
export function expectTransferWay(
  facts: TransferFacts,
  to: string,
  params: TransferParams,
): TransferMoved | TransferRefused {
  const actions = facts.status === to ? undefined : shortest(facts.status, to);
  if (actions === undefined) return { code: 'invalid_state_transition' };
  return along(facts, actions, params);
}

export function along(
  facts: TransferFacts,
  actions: readonly string[],
  params: TransferParams = {},
): TransferMoved | TransferRefused {
  let at: TransferMoved = { facts, told: [], entries: [] };
  for (const action of actions) {
    const next = expectTransferMove(at.facts, action, params);
    if ('code' in next) return next;
    at = {
      facts: next.facts,
      told: [...at.told, ...next.told],
      entries: [...at.entries, ...next.entries],
    };
  }
  return at;
}

function shortest(from: string, to: string): readonly string[] | undefined {
  const ways = new Map<string, readonly string[]>([[from, []]]);
  for (const [state, way] of ways) {
    for (const [action, moves] of Object.entries(transferTable)) {
      const end = moves[state];
      if (end === to) return [...way, action];
      if (end !== undefined && !ways.has(end)) ways.set(end, [...way, action]);
    }
  }
  return undefined;
}

const untold = ['requote', 'accept', 'review', 'release', 'expire'];

/** What comes of the provider's words about each move: the bank repeats the order when the money has arrived. */
export function expectedOutcomes(told: readonly TransferTold[], provider: string): readonly string[] {
  return told.flatMap(({ action }) => {
    if (untold.includes(action)) return [];
    return action === 'complete' && provider === 'tidewater' ? ['duplicate', 'applied'] : ['applied'];
  });
}
