import { TriangleAlert } from 'lucide-react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Webhook } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { useToast } from '../../parts/toast.tsx';

const reasons: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  requested: 'Disabled by request',
  gone: 'Disabled because its receiver responded 410 Gone',
  failing: 'Disabled because all attempts failed',
};

/** Why a disabled endpoint receives nothing, with the button that enables it. */
export function DisabledBanner({ webhook }: { readonly webhook: Webhook }) {
  const { toast } = useToast();
  const isAllowed = useAllowed('developer');
  const days = useLimits().webhookFailingDays;
  const enable = useWrite(`app/developer_api_webhooks/${webhook.id}/enable`, {
    onDone: () => toast('Webhook enabled'),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  if (webhook.status !== 'disabled' || webhook.disabledReason === null) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md bg-warn-soft px-3.5 py-3 text-warn">
      <div className="flex min-w-0 flex-1 basis-64 gap-2.5">
        <TriangleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
        <div>
          <p className="font-medium">
            {reasons[webhook.disabledReason]}
            {webhook.disabledReason === 'failing' && days !== undefined ? ` for ${days} days` : ''}.
          </p>
          <p className="text-sm">Deliveries are held and sent when it is enabled again.</p>
        </div>
      </div>
      {isAllowed ? (
        <Button size="small" isBusy={enable.isBusy} onClick={() => void enable.write({})}>
          Enable
        </Button>
      ) : null}
    </div>
  );
}
