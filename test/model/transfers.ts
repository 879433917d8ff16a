/**
 * The independent model of transfers, written from the contract alone, without server code: states, amounts, allowed
 * actions, transitions, ledger entries, provider events and errors. All transfers convert 100.00 EUR at 1.25.
 */
export interface Transfer {
  readonly status: string;
  readonly fundFrom: 'external' | 'balance';
  readonly hasBeneficiary: boolean;
  readonly scenario: string | readonly string[];
  readonly sends: number;
  readonly failureCode: string | null;
  readonly returnCode: string | null;
  readonly reconciliation: string | null;
  /** Names of the timestamps that are set, sorted. */
  readonly instants: readonly string[];
}

/** 100.00 EUR at 1.25 are 125.00 USD; the fee is 0.5 % of the source amount. */
export const amounts = { source: 10_000, target: 12_500, fee: 50, total: 10_050 } as const;

export const transferStates = [
  ...['quoted', 'accepted', 'funded', 'in_review', 'converted', 'sent', 'completed'],
  ...['returned', 'refunded', 'canceled', 'expired', 'failed'],
];

/** The contract's table: action, state, next state. */
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

export interface TransferTransition {
  readonly resource: string;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
}

export interface TransferEntry {
  readonly reason: string;
  readonly postings: Readonly<Record<string, number>>;
}

export interface TransferOutcome {
  readonly transfer: Transfer;
  readonly transitions: readonly TransferTransition[];
  readonly entries: readonly TransferEntry[];
}

export type TransferRefusal = { readonly code: string };

export function allowedTransferActions({ status }: Transfer): readonly string[] {
  return Object.keys(transferTable).filter((action) => transferTable[action]?.[status] !== undefined);
}

const scenarioNow = ({ scenario, sends }: Transfer): string => {
  if (typeof scenario === 'string') return scenario;
  return scenario[Math.max(sends, 1) - 1] ?? scenario.at(-1) ?? 'approve';
};

const codeOf = (scenario: string, kind: 'return' | 'fail'): string | undefined =>
  scenario.startsWith(`${kind}:`) ? scenario.slice(kind.length + 1) : undefined;

const payer = ({ fundFrom }: Transfer) => (fundFrom === 'balance' ? 'merchant_available EUR' : 'bank EUR');

const { source, target, fee, total } = amounts;

function postedBy(transfer: Transfer, action: string): Readonly<Record<string, number>> {
  const { status } = transfer;
  switch (action) {
    case 'fund':
      return { [payer(transfer)]: total, 'transfer_funding EUR': -total };
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
        return { 'transfer_funding EUR': total, [payer(transfer)]: -total };
      if (status === 'converted' || status === 'returned')
        return {
          'payout_clearing USD': target,
          'fx_position USD': -target,
          'fx_position EUR': source,
          'fees EUR': fee,
          [payer(transfer)]: -total,
        };
      return {};
    default:
      return {};
  }
}

/** Which timestamps an action sets and which it clears. */
const timestamps: Readonly<Record<string, readonly [added: readonly string[], gone: readonly string[]]>> = {
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

/** The other fields that an action changes. */
function changedBy(transfer: Transfer, action: string, params: TransferParams): Partial<Transfer> {
  const scenario = scenarioNow(transfer);
  switch (action) {
    case 'accept':
      return { hasBeneficiary: true };
    case 'send':
      return { sends: transfer.sends + 1 };
    case 'resend':
      return { sends: transfer.sends + 1, returnCode: null };
    case 'complete':
      return { reconciliation: reported[scenario] ?? 'matched' };
    case 'return':
      return {
        returnCode: params.returnCode ?? codeOf(scenario, 'return') ?? 'account_closed',
        ...(transfer.status === 'completed' ? { reconciliation: 'matched' } : {}),
      };
    case 'reject':
      return { failureCode: params.failureCode ?? 'compliance_rejected' };
    case 'fail':
      return { failureCode: params.failureCode ?? codeOf(scenario, 'fail') ?? 'payout_rejected' };
    default:
      return {};
  }
}

/** An action by name: its outcome, or the error code. */
export function actOnTransfer(
  transfer: Transfer,
  action: string,
  params: TransferParams = {},
): TransferOutcome | TransferRefusal {
  const to = transferTable[action]?.[transfer.status];
  if (to === undefined) return { code: 'invalid_state_transition' };
  if (action === 'accept' && !transfer.hasBeneficiary && !params.beneficiary)
    return { code: 'beneficiary_missing' };
  const [added, gone] = timestamps[action] ?? [[], []];
  const instants = [
    ...new Set([...transfer.instants.filter((name) => !gone.includes(name)), ...added]),
  ].sort();
  const postings = postedBy(transfer, action);
  return {
    transfer: { ...transfer, ...changedBy(transfer, action, params), status: to, instants },
    transitions: [{ resource: 'transfer', action, from: transfer.status, to, event: `transfer.${to}` }],
    entries: Object.keys(postings).length === 0 ? [] : [{ reason: action, postings }],
  };
}

/** The next step of the scenario; undefined where there is none. */
function nextAction(transfer: Transfer): string | undefined {
  const scenario = scenarioNow(transfer);
  const isReviewed = scenario === 'review' || scenario === 'reject';
  switch (transfer.status) {
    case 'quoted':
      return 'accept';
    case 'accepted':
      return 'fund';
    case 'funded':
      return isReviewed && !transfer.instants.includes('reviewedAt') ? 'review' : 'convert';
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

export function nextOfTransfer(transfer: Transfer): TransferOutcome | TransferRefusal {
  const action = nextAction(transfer);
  return action === undefined ? { code: 'invalid_state_transition' } : actOnTransfer(transfer, action);
}

/** The shortest path in the table; the first error on it is the outcome. */
export function walkTransfer(
  transfer: Transfer,
  to: string,
  params: TransferParams,
): TransferOutcome | TransferRefusal {
  const actions = transfer.status === to ? undefined : shortest(transfer.status, to);
  if (actions === undefined) return { code: 'invalid_state_transition' };
  return along(transfer, actions, params);
}

export function along(
  transfer: Transfer,
  actions: readonly string[],
  params: TransferParams = {},
): TransferOutcome | TransferRefusal {
  let at: TransferOutcome = { transfer, transitions: [], entries: [] };
  for (const action of actions) {
    const next = actOnTransfer(at.transfer, action, params);
    if ('code' in next) return next;
    at = {
      transfer: next.transfer,
      transitions: [...at.transitions, ...next.transitions],
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

const unreported = ['requote', 'accept', 'review', 'release', 'expire'];

/** The provider events of each transition. The bank provider sends a duplicate at completion. */
export function providerEventsOf(
  transitions: readonly TransferTransition[],
  provider: string,
): readonly string[] {
  return transitions.flatMap(({ action }) => {
    if (unreported.includes(action)) return [];
    return action === 'complete' && provider === 'tidewater' ? ['duplicate', 'applied'] : ['applied'];
  });
}
