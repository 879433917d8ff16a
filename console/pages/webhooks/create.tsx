import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Webhook } from '../../client/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog } from '../secret.tsx';
import { useCurrentApplication } from './applications.ts';
import { bodyOf, isComplete, isSaidByField, newDraft, WebhookFields } from './form.tsx';
import { OwnSecret, Verifying } from './secret.tsx';

/** Mounted while it is open, so that the secret is gone when it closes. */
export function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const application = useCurrentApplication();
  const [draft, setDraft] = useState(() => newDraft(application?.webhookDefaults));
  const [secret, setSecret] = useState('');
  const create = useWrite<Webhook>('app/developer_api_webhooks', { onDone: () => toast('Webhook created') });
  const made = create.answer;
  if (made?.secret !== undefined) {
    return (
      <SecretDialog
        title="Keep the signing secret"
        what="signing secret"
        secret={made.secret}
        onClose={onClose}
        more={
          <Anchor to={`webhooks/${made.id}`} search={{ test: '1' }} className={buttonClass()}>
            Send a test event…
          </Anchor>
        }
      >
        <Verifying />
      </SecretDialog>
    );
  }
  const own = secret.trim();
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Create webhook"
      description={`It gets the events of what ${application?.name ?? 'this application'} makes.`}
      submitLabel="Create webhook"
      onSubmit={() => void create.write({ ...bodyOf(draft), ...(own === '' ? {} : { secret: own }) })}
      isBusy={create.isBusy}
      isSubmitDisabled={!isComplete(draft)}
      problem={isSaidByField(create.problem) ? null : create.problem}
    >
      <WebhookFields draft={draft} onChange={setDraft} problem={create.problem} />
      <OwnSecret value={secret} onChange={setSecret} problem={create.problem} />
    </Dialog>
  );
}
