/** The accounts of every organization. Debits are positive: what it has or is owed. Credits are negative: what it owes. */
export const accounts = {
  provider_holds: "Held on payers' accounts at the provider.",
  hold_obligations: 'The other side of what is held: it is not ours until it is captured.',
  provider_receivable: 'Captured, and not yet paid out by the provider.',
  bank: 'Paid out by the provider, and what transfers bring in and send out.',
  merchant_pending: "The merchant's share of what is captured and not settled.",
  merchant_available: "The merchant's share of what is settled.",
  fees: 'What the provider keeps.',
  refunds_in_transit: 'Refunds that are made and not yet with the payer.',
  dispute_reserve: 'Set aside while a dispute is open.',
  transfer_funding: 'Paid in for a transfer and not yet converted.',
  fx_position:
    'What conversions have taken in and given out: in each currency by itself, gain or loss is read off it.',
  payout_clearing: 'Converted, and not yet on its way to the beneficiary.',
  payouts_in_transit: 'On its way to the beneficiary.',
} as const;

export type Account = keyof typeof accounts;
