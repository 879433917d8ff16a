import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Webhook } from '../../generated/shapes.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';

export interface DeleteWebhookProps {
  readonly webhook: Pick<Webhook, 'id' | 'url'>;
  readonly onClose: () => void;
}

export function DeleteWebhook({ webhook: { id, url }, onClose }: DeleteWebhookProps) {
  const { toast } = useToast();
  const { orgId } = useScope();
  const navigate = useNavigate();
  const remove = useWrite<Webhook>(`app/developer_api_webhooks/${id}/delete`, {
    onDone: () => {
      toast('Webhook deleted');
      void navigate({ to: `/${orgId}/webhooks` });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete webhook"
      isDanger
      isBusy={remove.isBusy}
      problem={remove.problem}
      onConfirm={() => void remove.write({})}
      code={remove.request({})}
    >
      <p>
        Nothing more is sent to <span className="font-mono text-sm break-all">{url}</span>: pending deliveries
        fail, and the signing secret and custom headers are deleted. The delivery history stays readable. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
