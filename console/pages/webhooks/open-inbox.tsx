import { useNavigate } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { WebhookWithSecret } from '../../generated/shapes.ts';
import { Button, type ButtonProps } from '../../parts/button.tsx';
import { useToast } from '../../parts/toast.tsx';

export interface OpenInboxButtonProps extends Pick<ButtonProps, 'variant' | 'size'> {
  readonly label?: string;
}

/**
 * Opens the inbox of the selected application; the first click creates it. The inbox verifies signatures itself, so the secret in
 * the response is not shown: an owner can reveal it on the endpoint page. Hidden from roles that cannot create webhooks.
 */
export function OpenInboxButton({ label = 'Open inbox', ...style }: OpenInboxButtonProps) {
  const navigate = useNavigate();
  const { orgId } = useScope();
  const { toast } = useToast();
  const isAllowed = useAllowed('developer');
  const open = useWrite<WebhookWithSecret>('app/developer_api_webhook_inbox', {
    onDone: ({ id }) => void navigate({ to: `/${orgId}/webhooks/${id}/inbox` }),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  if (!isAllowed) return null;
  return (
    <Button
      {...style}
      icon={<Inbox aria-hidden size={16} />}
      isBusy={open.isBusy}
      onClick={() => void open.write({})}
    >
      {label}
    </Button>
  );
}
