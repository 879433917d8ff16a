import { RotateCw } from 'lucide-react';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Delivery, EventReplay } from '../../generated/shapes.ts';
import { Button, type ButtonProps } from '../../parts/button.tsx';
import { useToast } from '../../parts/toast.tsx';

export interface ReplayButtonProps extends Pick<ButtonProps, 'variant' | 'size' | 'className'> {
  readonly delivery: Pick<Delivery, 'eventId' | 'webhookId'>;
  /** For screen readers, where several buttons of a page have the same text. */
  readonly label?: string;
  /** The id of the new delivery. */
  readonly onReplayed?: (deliveryId: string) => void;
}

/** Sends the event of a delivery to its endpoint once more. Hidden from roles that cannot. */
export function ReplayButton({ delivery, label, onReplayed, ...style }: ReplayButtonProps) {
  const { eventId, webhookId } = delivery;
  const { toast } = useToast();
  const isAllowed = useAllowed('developer');
  const replay = useWrite<EventReplay>(`app/developer_api_webhook_events/${eventId}/replay`, {
    onDone: ({ deliveryIds: [created] }) => {
      toast('Replayed as a new delivery');
      if (created !== undefined) onReplayed?.(created);
    },
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  if (!isAllowed) return null;
  return (
    <Button
      {...style}
      aria-label={label}
      isBusy={replay.isBusy}
      icon={<RotateCw aria-hidden size={style.size === 'small' ? 13 : 15} />}
      onClick={() => void replay.write({ webhookId })}
    >
      Replay
    </Button>
  );
}
