import { useState } from 'react';
import { useRead, useWrite } from '../../client/queries.ts';
import type { EventRecord, EventReplay, List, Webhook } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { count } from '../../parts/words.ts';

/** The endpoints by id; an application has at most a hundred. */
export function useEndpoints(): readonly Webhook[] {
  return useRead<List<Webhook>>('app/developer_api_webhooks', { limit: 100 }).data?.data ?? [];
}

export function ReplayEvent({
  event,
  onClose,
}: {
  readonly event: EventRecord;
  readonly onClose: () => void;
}) {
  const { toast } = useToast();
  const endpoints = useEndpoints();
  const [webhookId, setWebhookId] = useState('');
  const replay = useWrite<EventReplay>(`app/developer_api_webhook_events/${event.id}/replay`, {
    onDone: ({ replayed }) => {
      toast(
        replayed === 0
          ? 'No endpoint wants this type, so nothing was sent'
          : `Sent again to ${count(replayed, 'endpoint')}`,
        { isBad: replayed === 0 },
      );
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Replay this event"
      description="It is sent again under the same id, so a receiver that has seen it can tell."
      submitLabel="Replay"
      onSubmit={() => void replay.write(webhookId === '' ? {} : { webhookId })}
      isBusy={replay.isBusy}
      problem={replay.problem}
    >
      <Field
        label="To"
        hint={
          webhookId === ''
            ? `All endpoints that want ${event.type}.`
            : 'This endpoint, whatever event types it has chosen.'
        }
      >
        <Select
          value={webhookId}
          empty="All endpoints that want it"
          options={endpoints.map(({ id, url, status }) => ({
            value: id,
            label: status === 'disabled' ? `${url} (disabled: waits)` : url,
          }))}
          onChange={(change) => setWebhookId(change.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}
