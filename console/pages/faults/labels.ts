import type { Fault, FaultPlan } from '../../generated/shapes.ts';

/** Label and hint of each fault type. */
export const faultLabels: Readonly<Record<Fault['type'], { readonly label: string; readonly hint: string }>> =
  {
    latency: { label: 'Latency', hint: 'The request waits before it is processed.' },
    error: { label: 'Error', hint: 'The request is rejected and not processed.' },
    reset_connection: {
      label: 'Reset connection',
      hint: 'The connection is closed before the request is processed.',
    },
    lose_answer: {
      label: 'Lost response',
      hint: 'The request is processed, but the response never arrives.',
    },
    duplicate: { label: 'Duplicate', hint: 'The same event is sent more than once.' },
    reorder: { label: 'Reorder', hint: 'The event is sent after the next one.' },
    delay: { label: 'Delay', hint: 'The event is sent later, on the application clock.' },
    drop: { label: 'Drop', hint: 'The first attempt is not sent and fails.' },
  };

export const faultTypes: Readonly<Record<FaultPlan['on'], readonly Fault['type'][]>> = {
  requests: ['latency', 'error', 'reset_connection', 'lose_answer'],
  webhooks: ['duplicate', 'reorder', 'delay', 'drop'],
};

/** A fault with its parameter, for example 'Latency, 500 ms'. */
export function describeFault(fault: Fault): string {
  const { label } = faultLabels[fault.type];
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

/** How many matching requests or deliveries a plan affects. */
export function describeReach({ count, share }: Pick<FaultPlan, 'count' | 'share'>): string {
  if (share === null) return count === 1 ? 'The next one' : `The next ${count}`;
  return count === null ? `${share} %` : `${share} %, at most ${count}`;
}
