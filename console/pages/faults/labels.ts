import type {
  ErrorFault,
  Fault,
  FaultPlan,
  RequestFaultPlanCreate,
  WebhookFaultPlanCreate,
} from '../../generated/shapes.ts';
import { valuesOf } from '../../parts/options.ts';

interface Label {
  readonly label: string;
  readonly hint: string;
}

const requestFaults: Readonly<Record<RequestFaultPlanCreate['fault']['type'], Label>> = {
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
};

const webhookFaults: Readonly<Record<WebhookFaultPlanCreate['fault']['type'], Label>> = {
  duplicate: { label: 'Duplicate', hint: 'The same event is sent more than once.' },
  reorder: { label: 'Reorder', hint: 'The event is sent after the next one.' },
  delay: { label: 'Delay', hint: 'The event is sent later, on the application clock.' },
  drop: { label: 'Drop', hint: 'The first attempt is not sent and fails.' },
};

/** Label and hint of each fault type. */
export const faultLabels: Readonly<Record<Fault['type'], Label>> = { ...requestFaults, ...webhookFaults };

export const faultTypes: Readonly<Record<FaultPlan['on'], readonly Fault['type'][]>> = {
  requests: valuesOf(requestFaults),
  webhooks: valuesOf(webhookFaults),
};

/** The codes that a request can fail with. */
export const faultCodes = valuesOf<ErrorFault['code']>({
  rate_limited: true,
  internal_error: true,
  service_unavailable: true,
});

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
