import { assert } from './assert.ts';
import { limits } from './limits.ts';

/**
 * Decline reasons. After a soft decline another attempt may succeed; after a hard one it will not, and card networks penalize
 * retries. The description is for the customer at the checkout.
 */
interface Decline {
  readonly isSoft: boolean;
  readonly description: string;
}

const soft = (description: string): Decline => ({ isSoft: true, description });
const hard = (description: string): Decline => ({ isSoft: false, description });

export const declines = {
  insufficient_funds: soft('The account does not have enough money for this payment.'),
  generic_decline: soft('The bank declined the payment and did not say why.'),
  do_not_honor: soft('The bank declined the payment. Its customer can ask it for the reason.'),
  expired_card: hard('The card has expired.'),
  incorrect_cvc: soft('The security code of the card is wrong.'),
  incorrect_number: hard('The card number is wrong.'),
  incorrect_pin: soft('The PIN is wrong.'),
  invalid_account: hard('The account does not exist, or cannot be charged.'),
  account_closed: hard('The account is closed.'),
  lost_card: hard('The card was reported lost.'),
  stolen_card: hard('The card was reported stolen.'),
  pickup_card: hard('The bank asks the merchant to retain the card.'),
  restricted_card: hard('The card may not be used for this kind of payment.'),
  fraudulent: hard('The payment was classified as fraud.'),
  card_not_supported: hard('The card does not support this kind of purchase.'),
  currency_not_supported: hard('The account cannot be charged in this currency.'),
  card_velocity_exceeded: soft('The card was used too often in a short time, or for too much.'),
  withdrawal_limit_exceeded: soft('The payment is above the limit of the account for this period.'),
  authentication_failed: soft('The customer did not confirm the payment with the bank.'),
  issuer_not_available: soft('The bank could not be reached.'),
  processing_error: soft('The provider failed while it processed the payment.'),
  try_again_later: soft('The bank asks to try again later.'),
  transaction_not_allowed: hard('The bank does not allow this payment.'),
  mandate_revoked: hard('The customer has revoked the mandate to debit the account.'),
} as const satisfies Record<string, Decline>;

export type DeclineCode = keyof typeof declines;

export const declineCodes = Object.keys(declines) as readonly DeclineCode[];

export function findDecline(code: string): Decline {
  const decline = (declines as Readonly<Record<string, Decline>>)[code];
  assert(decline, `${code} is not a decline code`);
  return decline;
}

/**
 * Why a transfer is returned, and why one fails before it is sent. These codes have a description. Any other code of the same
 * form is accepted too, so that tests can use the codes of a real provider.
 */
export const returnReasons: Readonly<Record<string, string>> = {
  account_closed: "The beneficiary's account is closed.",
  account_not_found: "The beneficiary's bank does not have this account.",
  account_blocked: "The beneficiary's account does not accept payments.",
  name_mismatch: 'The name of the beneficiary does not match the account.',
  beneficiary_deceased: 'The holder of the account has died.',
  rejected_by_bank: "The beneficiary's bank returned the money without a reason.",
  no_answer: "The beneficiary's bank did not respond in time.",
};

export const transferFailures: Readonly<Record<string, string>> = {
  compliance_rejected: 'The review did not clear the transfer.',
  payout_rejected: 'The provider rejected the payout.',
  funding_failed: 'The funding of the transfer failed.',
  insufficient_funds: 'The available balance did not cover the transfer and its fee.',
  provider_error: 'The provider failed while it processed the transfer.',
};

const providerCodeDescription = 'The provider returned its own reason code.';

/** The form of every code, also of unknown ones. */
export const reasonCodePattern = `[A-Za-z0-9_]{1,${limits.reasonCodeLengthMax}}`;

export function failureDescription(code: string): string {
  return Object.hasOwn(transferFailures, code)
    ? (transferFailures[code] ?? providerCodeDescription)
    : providerCodeDescription;
}
