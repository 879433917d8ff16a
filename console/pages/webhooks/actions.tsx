import { Ellipsis, KeyRound, Pencil, Power, RotateCw, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useWrite } from '../../client/queries.ts';
import type { Webhook } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../parts/menu.tsx';
import { useToast } from '../../parts/toast.tsx';
import { DeleteWebhook } from './delete.tsx';
import { EditWebhook } from './edit.tsx';
import { ReplayWindow } from './replay.tsx';
import { RotateSecret } from './rotate.tsx';
import { TestWebhook } from './test.tsx';

type Open = 'edit' | 'rotate' | 'replay' | 'switch' | 'delete' | null;

/** The actions on an endpoint. A link can open the test dialog. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const [open, setOpen] = useState<Open>(null);
  const [isTesting, setTesting] = useOpenParam('test');
  const [, setFilters] = useFilters('replay');
  const close = () => setOpen(null);
  const isEnabled = webhook.status === 'enabled';
  return (
    <>
      <Button variant="primary" icon={<Send aria-hidden size={15} />} onClick={() => setTesting(true)}>
        Send test event
      </Button>
      <Button icon={<Pencil aria-hidden size={15} />} onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Menu
        trigger={
          <Button icon={<Ellipsis aria-hidden size={16} />} aria-label="More actions">
            More
          </Button>
        }
      >
        <MenuItem icon={<RotateCw aria-hidden size={15} />} onSelect={() => setOpen('replay')}>
          Replay events…
        </MenuItem>
        <MenuItem icon={<KeyRound aria-hidden size={15} />} onSelect={() => setOpen('rotate')}>
          Rotate secret…
        </MenuItem>
        <MenuSeparator />
        <MenuItem
          icon={<Power aria-hidden size={15} />}
          isDanger={isEnabled}
          onSelect={() => setOpen('switch')}
        >
          {isEnabled ? 'Disable…' : 'Enable…'}
        </MenuItem>
        <MenuItem icon={<Trash2 aria-hidden size={15} />} isDanger onSelect={() => setOpen('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      {isTesting ? <TestWebhook id={webhook.id} onClose={() => setTesting(false)} /> : null}
      {open === 'edit' ? <EditWebhook webhook={webhook} onClose={close} /> : null}
      {open === 'rotate' ? <RotateSecret id={webhook.id} onClose={close} /> : null}
      {open === 'replay' ? (
        <ReplayWindow
          webhook={webhook}
          onClose={close}
          onStarted={(replay) => {
            close();
            setFilters({ replay });
          }}
        />
      ) : null}
      {open === 'switch' ? <Switch webhook={webhook} onClose={close} /> : null}
      {open === 'delete' ? <DeleteWebhook webhook={webhook} onClose={close} /> : null}
    </>
  );
}

function Switch({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { toast } = useToast();
  const isEnabled = webhook.status === 'enabled';
  const action = isEnabled ? 'disable' : 'enable';
  const write = useWrite(`app/developer_api_webhooks/${webhook.id}/${action}`, {
    onDone: () => {
      toast(isEnabled ? 'Webhook disabled' : 'Webhook enabled');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={isEnabled ? 'Disable this webhook?' : 'Enable this webhook?'}
      confirmLabel={isEnabled ? 'Disable' : 'Enable'}
      isDanger={isEnabled}
      isBusy={write.isBusy}
      problem={write.problem}
      onConfirm={() => void write.write({})}
      code={write.request({})}
    >
      {isEnabled
        ? 'While it is disabled, deliveries are held. They are sent when it is enabled again.'
        : 'Deliveries resume, starting with the held ones.'}
    </ConfirmDialog>
  );
}
