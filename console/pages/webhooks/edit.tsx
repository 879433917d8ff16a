import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { Webhook } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { bodyOf, draftOf, isComplete, WebhookFields } from './form.tsx';

export function EditWebhook({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}) {
  const { toast } = useToast();
  const limits = useLimits();
  const [draft, setDraft] = useState(() => draftOf(webhook));
  const update = useWrite(`app/developer_api_webhooks/${webhook.id}/update`, {
    onDone: () => {
      toast('Webhook saved');
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Edit webhook"
      description="Applies to all future attempts, including those of pending deliveries."
      onSubmit={() => void update.write(bodyOf(draft))}
      isBusy={update.isBusy}
      problem={update.problem}
      code={update.request(isComplete(draft, limits) ? bodyOf(draft) : undefined)}
    >
      <WebhookFields
        draft={draft}
        onChange={setDraft}
        problem={update.problem}
        storedHeaders={webhook.headerNames}
        isInbox={webhook.inbox !== null}
      />
    </Dialog>
  );
}
