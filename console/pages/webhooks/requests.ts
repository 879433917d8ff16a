import { postRequest, readRequest } from '../../client/request.ts';
import type { NamedRequest } from '../../code/named-request.ts';
import type { Webhook } from '../../generated/shapes.ts';

export const openInbox: NamedRequest = {
  label: 'Open inbox',
  request: postRequest('developer_api_webhook_inbox', {}),
};

/** The requests about a webhook, except those whose forms show their code. The status is undefined while it is loading. */
export function webhookRequests(id: string, status: Webhook['status'] | undefined): readonly NamedRequest[] {
  const path = `developer_api_webhooks/${id}`;
  const post = (label: string, action: string) => ({ label, request: postRequest(`${path}/${action}`, {}) });
  return [
    { label: 'Retrieve webhook', request: readRequest(path) },
    {
      label: 'List deliveries',
      request: readRequest('developer_api_webhook_deliveries', { webhookId: id }),
    },
    ...(status === undefined || status === 'deleted'
      ? []
      : [
          post('Send test event', 'test'),
          status === 'enabled' ? post('Disable webhook', 'disable') : post('Enable webhook', 'enable'),
        ]),
  ];
}
