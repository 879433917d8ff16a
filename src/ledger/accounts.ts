/** The accounts of every organization. Debits (assets) are positive, credits (liabilities) are negative. */
export const accounts = {
  provider_holds: "Held on payers' accounts at the provider.",
  hold_obligations: 'Contra account of the holds: held money is not ours until it is captured.',
  provider_receivable: 'Captured and not yet paid out by the provider.',
  bank: 'Paid out by the provider; incoming and outgoing transfer payments.',
  merchant_pending: "The merchant's share of captured, unsettled payments.",
  merchant_available: "The merchant's share of settled payments.",
  fees: 'Fees charged by the provider.',
  refunds_in_transit: 'Refunds on their way to the payer.',
  dispute_reserve: 'Reserved while a dispute is open.',
  transfer_funding: 'Received for a transfer and not yet converted.',
  fx_position: 'Amounts bought and sold in conversions; the balance per currency is the open position.',
  payout_clearing: 'Converted and not yet sent to the beneficiary.',
  payouts_in_transit: 'On its way to the beneficiary.',
} as const;

export type Account = keyof typeof accounts;
