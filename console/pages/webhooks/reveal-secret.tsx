import { Eye } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useAllowed } from '../../frame/session.tsx';
import type { WebhookSecret } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { ConfirmPassword } from '../confirm-password.tsx';
import { useSecretWrite } from '../secret.tsx';

const shownMs = 60_000;

/** For owners: shows the current signing secret after the password. */
export function RevealSecretButton({ id }: { readonly id: string }) {
  const isAllowed = useAllowed('owner');
  const [isOpen, setOpen] = useState(false);
  if (!isAllowed) return null;
  return (
    <>
      <Button size="small" icon={<Eye aria-hidden size={14} />} onClick={() => setOpen(true)}>
        Reveal
      </Button>
      {isOpen ? <RevealSecret id={id} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Mounted only while open, so that closing it discards the password and the secret. */
function RevealSecret({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const reveal = useSecretWrite<WebhookSecret>(`app/developer_api_webhooks/${id}/reveal_secret`);
  const secret = reveal.response?.secret;
  const isShown = secret !== undefined;
  useEffect(() => {
    if (!isShown) return;
    const timer = setTimeout(onClose, shownMs);
    return () => clearTimeout(timer);
  }, [isShown, onClose]);
  if (isShown)
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        title="Signing secret"
        footer={
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <SecretOnce
          secret={secret}
          what="signing secret"
          warning="The dialog closes after a minute. The audit trail records that you have seen the secret."
        />
      </Dialog>
    );
  const isWrong = reveal.problem?.code === 'password_wrong';
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Reveal signing secret"
      description="Confirm your password. The audit trail records it."
      submitLabel="Reveal secret"
      onSubmit={() => void reveal.write({ password })}
      isBusy={reveal.isBusy}
      problem={isWrong ? null : reveal.problem}
    >
      <ConfirmPassword
        value={password}
        onChange={setPassword}
        error={isWrong ? reveal.problem?.message : undefined}
      />
    </Dialog>
  );
}
