import type { Capabilities } from '../../client/shapes.ts';

/** Descriptions as in docs/scenarios.md; those of declines, returns and failures come from the capabilities. */
const payment: Readonly<Record<string, string>> = {
  approve: 'Everything succeeds.',
  require_action: 'The customer has to confirm first: the payment passes through requires_action.',
  async: 'The provider needs time: the payment passes through processing.',
  capture_fails: 'The amount is authorized, but its capture is declined.',
  refund_fails: 'Refunds are created and fail.',
  refund_pending: 'Refunds stay pending until they are advanced.',
  dispute: 'The customer disputes the payment once it is captured.',
  settle_short: 'The settlement report shows one percent less than was paid out.',
  settle_missing: 'The settlement report omits the payment.',
  settle_duplicate: 'The settlement report shows the payment twice.',
  settle_unknown: 'The settlement report contains an additional, unknown payment.',
};

const transfer: Readonly<Record<string, string>> = {
  approve: 'Everything succeeds.',
  review: 'The transfer is reviewed before it is converted, and released.',
  reject: 'The transfer is reviewed before it is converted, and rejected.',
  settle_short: 'The settlement report shows less than was paid out.',
  settle_missing: 'The settlement report omits the transfer.',
  settle_duplicate: 'The settlement report shows the transfer twice.',
  settle_unknown: 'The settlement report contains an additional, unknown transfer.',
};

export type ScenarioResource = 'payment' | 'transfer';

/** A short description of a scenario; undefined if this console version does not know it. */
export function scenarioDescription(
  resource: ScenarioResource,
  scenario: string,
  capabilities: Capabilities,
): string | undefined {
  const description = (resource === 'payment' ? payment : transfer)[scenario];
  if (description !== undefined) return description;
  const [family, code] = scenario.split(':');
  if (family === 'decline') {
    const decline = capabilities.declineCodes.find((one) => one.code === code);
    return (
      decline && `${decline.message} ${decline.retryable ? 'It can be retried.' : 'It cannot be retried.'}`
    );
  }
  if (family === 'return') return capabilities.returnCodes.find((one) => one.code === code)?.message;
  return capabilities.transferFailureCodes.find((one) => one.code === code)?.message;
}

/** The server's scenarios in groups, for the select. */
export function scenarioGroups(names: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const groups: readonly (readonly [string, (name: string) => boolean])[] = [
    ['Provider behavior', (name) => !name.includes(':') && !name.startsWith('settle_')],
    ['Declines', (name) => name.startsWith('decline:')],
    ['Returns', (name) => name.startsWith('return:')],
    ['Failures', (name) => name.startsWith('fail:')],
    ['Settlement report', (name) => name.startsWith('settle_')],
  ];
  return groups
    .map(([label, belongs]) => [label, names.filter(belongs)] as const)
    .filter(([, inside]) => inside.length > 0);
}
