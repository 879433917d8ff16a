import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { WebhookWithSecret } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog } from '../secret.tsx';
import { useCurrentApplication } from './applications.ts';
import { bodyOf, isComplete, newDraft, WebhookFields } from './form.tsx';
import { CustomSecretField, shownSecret, VerificationExample } from './secret.tsx';

/** Mounted only while open, so that closing it discards the secret. */
export function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const limits = useLimits();
  const application = useCurrentApplication();
  const [draft, setDraft] = useState(() => newDraft(application?.webhookDefaults, limits));
  const [secret, setSecret] = useState('');
  const create = useWrite<WebhookWithSecret>('app/developer_api_webhooks', {
    onDone: () => toast('Webhook created'),
  });
  const created = create.response;
  if (created?.secret !== undefined) {
    return (
      <SecretDialog
        title="Save the signing secret"
        what="signing secret"
        secret={created.secret}
        onClose={onClose}
        more={
          <Anchor to={`webhooks/${created.id}`} search={{ test: '1' }} className={buttonClass()}>
            Send a test event…
          </Anchor>
        }
      >
        <VerificationExample />
      </SecretDialog>
    );
  }
  const customSecret = secret.trim();
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Create webhook"
      description={`Receives the events of ${application?.name ?? 'this application'}.`}
      submitLabel="Create webhook"
      onSubmit={() =>
        void create.write({ ...bodyOf(draft), ...(customSecret === '' ? {} : { secret: customSecret }) })
      }
      isBusy={create.isBusy}
      problem={create.problem}
      code={create.request(
        isComplete(draft, limits) ? { ...bodyOf(draft), ...shownSecret(secret) } : undefined,
      )}
    >
      <WebhookFields draft={draft} onChange={setDraft} problem={create.problem} />
      <CustomSecretField value={secret} onChange={setSecret} />
    </Dialog>
  );
}
