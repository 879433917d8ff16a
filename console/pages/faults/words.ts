import type { Fault, FaultPlan } from '../../client/shapes.ts';

/** What each fault does, for the form and the list. */
export const faultWords: Readonly<Record<Fault['type'], { readonly label: string; readonly hint: string }>> =
  {
    latency: { label: 'Latency', hint: 'The request waits before anything is done for it.' },
    error: { label: 'Error', hint: 'It is refused, and nothing is done.' },
    reset_connection: { label: 'Reset connection', hint: 'The connection breaks before anything is done.' },
    lose_answer: { label: 'Lost answer', hint: 'It is carried out, and the answer never arrives.' },
    duplicate: { label: 'Duplicate', hint: 'The same event is sent more than once.' },
    reorder: { label: 'Reorder', hint: 'The event is sent behind the one that follows it.' },
    delay: { label: 'Delay', hint: 'The event is sent later, by the clock of the application.' },
    drop: { label: 'Drop', hint: 'The first attempt is not sent, and fails.' },
  };

export const faultsOf: Readonly<Record<FaultPlan['on'], readonly Fault['type'][]>> = {
  requests: ['latency', 'error', 'reset_connection', 'lose_answer'],
  webhooks: ['duplicate', 'reorder', 'delay', 'drop'],
};

/** A fault in a few words, with its figure. */
export function describeFault(fault: Fault): string {
  const { label } = faultWords[fault.type];
  switch (fault.type) {
    case 'latency':
      return `${label}, ${fault.delayMs} ms`;
    case 'error':
      return `${label} ${fault.code}`;
    case 'duplicate':
      return fault.copies === 1 ? label : `${label}, ${fault.copies} copies`;
    case 'delay':
      return `${label}, ${fault.seconds} s`;
    default:
      return label;
  }
}

/** How much of what matches it hits. */
export function describeReach({ count, share }: Pick<FaultPlan, 'count' | 'share'>): string {
  if (share === null) return count === 1 ? 'The next one' : `The next ${count}`;
  return count === null ? `${share} % of them` : `${share} % of them, ${count} at most`;
}
