/**
 * Why a transfer comes back, and why one fails before it is sent. These codes have words of their own; any other one of
 * the same form is taken as well, so that the codes of a real provider can be played.
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

const ownWords = 'The provider gave a code of its own as the reason.';

/** The form of every code, known or not. */
export const reasonCodePattern = '[A-Za-z0-9_]{1,40}';

export function failureWords(code: string): string {
  return Object.hasOwn(transferFailures, code) ? (transferFailures[code] ?? ownWords) : ownWords;
}
