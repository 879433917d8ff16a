import { useState } from 'react';
import { type List, useRead, useWrite } from '../../client/queries.ts';
import type { Event, EventReplay, Webhook } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { pluralize } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';

/** The application's endpoints; the server allows at most a hundred. */
export function useEndpoints(): readonly Webhook[] {
  return useRead<List<Webhook>>('app/developer_api_webhooks', { limit: 100 }).data?.data ?? [];
}

export function ReplayEvent({ event, onClose }: { readonly event: Event; readonly onClose: () => void }) {
  const { toast } = useToast();
  const endpoints = useEndpoints();
  const [webhookId, setWebhookId] = useState('');
  const replay = useWrite<EventReplay>(`app/developer_api_webhook_events/${event.id}/replay`, {
    onDone: ({ replayed }) => {
      toast(
        replayed === 0
          ? 'No endpoint subscribes to this type, so nothing was sent'
          : `Replayed to ${pluralize(replayed, 'endpoint')}`,
        { isBad: replayed === 0 },
      );
      onClose();
    },
  });
  const body = webhookId === '' ? {} : { webhookId };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Replay this event"
      description="Sends it again with the same id, so that receivers can detect the duplicate."
      submitLabel="Replay"
      onSubmit={() => void replay.write(body)}
      isBusy={replay.isBusy}
      problem={replay.problem}
      code={replay.request(body)}
    >
      <Field
        param="webhookId"
        label="To"
        hint={
          webhookId === ''
            ? `All endpoints that subscribe to ${event.type}.`
            : 'This endpoint, regardless of its event types.'
        }
      >
        <Select
          value={webhookId}
          empty="All subscribed endpoints"
          options={endpoints.map(({ id, url, status }) => ({
            value: id,
            label: status === 'disabled' ? `${url} (disabled: the delivery is held)` : url,
          }))}
          onChange={(change) => setWebhookId(change.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}
