/** One table for every implementation of event filters: in the server, in SQL and in the client. */
export const eventFilterCases: readonly (readonly [
  filters: readonly string[],
  type: string,
  isMatch: boolean,
])[] = [
  [['*'], 'payment.captured', true],
  [['payment.*'], 'payment.captured', true],
  [['payment.captured'], 'payment.captured', true],
  [['customer.*', 'payment.captured'], 'payment.captured', true],
  [['customer.created', '*'], 'payment.captured', true],
  [['provider_event.*'], 'provider_event.received', true],
  [[], 'payment.captured', false],
  [['payment.created'], 'payment.captured', false],
  [['customer.*', 'transfer.*'], 'payment.captured', false],
  // A prefix of the resource is a different resource, and a resource alone is not a filter.
  [['pay.*'], 'payment.captured', false],
  [['payment_link.*'], 'payment.captured', false],
  [['payment'], 'payment.captured', false],
  [['payment.'], 'payment.captured', false],
  [['.*'], 'payment.captured', false],
  [['payment.capt*'], 'payment.captured', false],
  [['*.captured'], 'payment.captured', false],
  [['PAYMENT.*'], 'payment.captured', false],
];
