import {
  type DeclineCode,
  declineCodes,
  declines,
  reasonCodePattern,
  returnReasons,
  transferFailures,
} from './decline.ts';

/**
 * The behaviour of the simulated provider for a payment: a name, or a list of names for successive attempts. The docs show these
 * descriptions.
 */
export const scenarioDescriptions = {
  approve: 'Everything succeeds. The default.',
  require_action: 'The customer has to confirm first: the payment passes through `requires_action`.',
  async: 'The provider needs time: the payment passes through `processing`.',
  capture_fails: 'The amount is authorized, but its capture is declined: `failed` with `processing_error`.',
  refund_fails: 'Refunds are created and fail.',
  refund_pending: 'Refunds stay `pending` until they are advanced.',
  dispute: 'The customer disputes the payment once it is captured.',
  settle_short: 'The settlement report shows one percent less than was paid out: `amount_mismatch`.',
  settle_missing: 'The settlement report omits the payment: `missing_at_provider`.',
  settle_duplicate: 'The settlement report shows the payment twice: `duplicate`.',
  settle_unknown: 'The settlement report contains an additional, unknown payment: `missing_in_ledger`.',
} as const;

const declinePrefix = 'decline:';

/** Every scenario of a payment with its effect, also those that decline. */
export const paymentScenarioEffects: Readonly<Record<string, string>> = {
  ...scenarioDescriptions,
  ...Object.fromEntries(
    declineCodes.map((code) => {
      const { description, isSoft } = declines[code];
      return [declinePrefix + code, `${description} It ${isSoft ? 'can' : 'cannot'} be retried.`];
    }),
  ),
};

export const paymentScenarios: readonly string[] = Object.keys(paymentScenarioEffects);

/** The code of a scenario that declines; undefined for all others. */
export function declineOf(scenario: string): DeclineCode | undefined {
  return declineCodes.find((code) => scenario === declinePrefix + code);
}

/** The behaviour of the simulated provider for a transfer: a name, or a list of names for successive payouts. */
export const transferScenarioDescriptions = {
  approve: 'Everything succeeds. The default.',
  review: 'The transfer is reviewed before it is converted, and released.',
  reject:
    'The transfer is reviewed before it is converted, and rejected: `failed` with `compliance_rejected`.',
  settle_short: 'The settlement report shows less than was paid out.',
  settle_missing: 'The settlement report omits the transfer.',
  settle_duplicate: 'The settlement report shows the transfer twice.',
  settle_unknown: 'The settlement report contains an additional, unknown transfer.',
} as const;

const returnPrefix = 'return:';
const failPrefix = 'fail:';

export const transferScenarios: readonly string[] = Object.keys(transferScenarioDescriptions);

/** Every known scenario of a transfer with its effect, also those that return the money or fail. */
export const transferScenarioEffects: Readonly<Record<string, string>> = {
  ...transferScenarioDescriptions,
  ...withPrefix(returnPrefix, returnReasons),
  ...withPrefix(failPrefix, transferFailures),
};

function withPrefix(
  prefix: string,
  reasons: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(reasons).map(([code, message]) => [prefix + code, message]));
}

/** The names above, and `return:` or `fail:` with any code. */
export const transferScenarioPattern = `^(?:${transferScenarios.join('|')}|(?:return|fail):${reasonCodePattern})$`;

/** The code of a scenario that returns the money; undefined for all others. */
export function returnOf(scenario: string): string | undefined {
  return scenario.startsWith(returnPrefix) ? scenario.slice(returnPrefix.length) : undefined;
}

/** The code of a scenario in which the transfer fails before it is sent; undefined for all others. */
export function failureOf(scenario: string): string | undefined {
  return scenario.startsWith(failPrefix) ? scenario.slice(failPrefix.length) : undefined;
}

/** The scenario of an attempt, counted from 1. The last entry applies to all further attempts. */
export function scenarioOf(scenario: string | readonly string[], attempt: number): string {
  if (typeof scenario === 'string') return scenario;
  return scenario[attempt - 1] ?? scenario.at(-1) ?? 'approve';
}

/**
 * Values that select a scenario when none is named: well-known test cards, and amounts that are too unusual to occur by chance. The
 * last digits of most amounts are ISO 8583 response codes.
 */
export const testCards: Readonly<Record<string, string>> = {
  '4242424242424242': 'approve',
  '5555555555554444': 'approve',
  '378282246310005': 'approve',
  '4000002500003155': 'require_action',
  '4000000000000002': 'decline:generic_decline',
  '4000000000009995': 'decline:insufficient_funds',
  '4000000000009987': 'decline:lost_card',
  '4000000000009979': 'decline:stolen_card',
  '4000000000000069': 'decline:expired_card',
  '4000000000000127': 'decline:incorrect_cvc',
  '4000000000000119': 'decline:processing_error',
  '4242424242424241': 'decline:incorrect_number',
  '4000000000006975': 'decline:card_velocity_exceeded',
  '4100000000000019': 'decline:fraudulent',
  '4000000000000341': 'capture_fails',
  '4000000000005126': 'refund_fails',
  '4000000000007726': 'refund_pending',
  '4000000000000259': 'dispute',
};

export const magicAmounts: ReadonlyMap<bigint, string> = new Map([
  [999_000_001n, 'decline:generic_decline'],
  [999_000_005n, 'decline:do_not_honor'],
  [999_000_041n, 'decline:lost_card'],
  [999_000_043n, 'decline:stolen_card'],
  [999_000_051n, 'decline:insufficient_funds'],
  [999_000_054n, 'decline:expired_card'],
  [999_000_055n, 'decline:incorrect_pin'],
  [999_000_059n, 'decline:fraudulent'],
  [999_000_061n, 'decline:withdrawal_limit_exceeded'],
  [999_000_091n, 'decline:issuer_not_available'],
  [999_000_096n, 'decline:processing_error'],
  [999_000_100n, 'require_action'],
  [999_000_200n, 'async'],
  [999_000_300n, 'capture_fails'],
  [999_000_400n, 'refund_fails'],
  [999_000_401n, 'refund_pending'],
  [999_000_500n, 'dispute'],
]);

/** A scenario by name wins over a test card, a test card over an amount. */
export function resolveScenario(
  named: string | readonly string[] | null,
  cardNumber: string | null,
  amount: bigint,
): string | readonly string[] {
  const isTestCard = cardNumber !== null && Object.hasOwn(testCards, cardNumber);
  return named ?? (isTestCard ? testCards[cardNumber] : undefined) ?? magicAmounts.get(amount) ?? 'approve';
}
