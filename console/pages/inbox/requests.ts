import { postRequest } from '../../client/request.ts';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import type { RetryProfile, Webhook } from '../../generated/shapes.ts';
import { openInbox, webhookRequests } from '../webhooks/requests.ts';
import { defaults, modes } from './behavior-mode.ts';
import { samplePayment } from './sample-payment.tsx';

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
    { label: 'Create a sample payment', request: samplePayment },
    openInbox,
  ];
}
