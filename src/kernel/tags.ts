/** The chapters of the API's documents, each with what it is about. A route cannot be in one that is not here. */
export const tags = {
  Sandbox: 'Whom a key stands for, what this server can do, and the state machines that it runs on.',
  Payments: 'Money from a customer: created, authorized, captured, settled, and every way that it can fail.',
  Refunds: 'Money back to a customer, in whole or in part.',
  Disputes: 'Payments that a customer has contested, with evidence, stages and deadlines.',
  Transfers: 'Money to a beneficiary in another currency, from the quote to the payout or its return.',
  Ledger: 'The double entry behind every move. Entries are never changed, and each sums to zero.',
  Settlement: 'What the simulated providers report having paid out, and how that compares with the ledger.',
  Customers: 'Who pays. A customer can be named in payments and transfers.',
  Clock: 'The time of the application: stop it, or move it forward and see all happen that falls due.',
  Webhooks: 'Endpoints that events are sent to, the events, their deliveries, and sending them again.',
  Faults:
    'Failures on demand: requests that are slow, refused or lost, and webhooks that come twice, late or not at all.',
  Requests: 'What was asked with keys lately, and what was answered.',
  Audit: 'Who wrote what, and when: an append-only trail of every write and refusal, sealed by a hash chain.',
  Coverage: 'Which states, moves, events, operations and errors an integration has met.',
  Reset: 'An empty organization again, with its keys and endpoints.',
} as const satisfies Readonly<Record<string, string>>;

export type Tag = keyof typeof tags;
