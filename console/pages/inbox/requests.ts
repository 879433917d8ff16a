import { postRequest } from '../../client/request.ts';
import type { NamedRequest } from '../../code/named-request.ts';
import type { RetryProfile, Webhook } from '../../generated/shapes.ts';
import { openInbox, webhookRequests } from '../webhooks/requests.ts';
import { defaults, modes } from './behavior-mode.ts';

/** It advances by itself, so that several events follow. */
export const samplePayment = { amount: 1250, currency: 'EUR', autoAdvance: true } as const;
export const createSamplePayment = postRequest('developer_api_payments', samplePayment);

/** The requests of all controls of an inbox. */
export function inboxRequests(
  id: string,
  status: Webhook['status'] | undefined,
  profiles: readonly RetryProfile[],
): readonly NamedRequest[] {
  const update = (label: string, body: unknown) => ({
    label,
    request: postRequest(`developer_api_webhooks/${id}/update`, body),
  });
  return [
    ...webhookRequests(id, status),
    ...modes.map(({ value, label }) =>
      update(`Behavior: ${label.toLowerCase()}`, { inbox: defaults[value] }),
    ),
    ...profiles.map((retryProfile) => update(`Retry schedule: ${retryProfile}`, { retryProfile })),
    { label: 'Create a sample payment', request: createSamplePayment },
    openInbox,
  ];
}
