import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { WebhookWithSecret } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { overlapOptions } from '../overlap-options.ts';
import { SecretDialog } from '../secret.tsx';
import { CustomSecretField, shownSecret, VerificationExample } from './secret.tsx';

/** Mounted only while open, so that closing it discards the secret. */
export function RotateSecret({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { toast } = useToast();
  const limits = useLimits();
  const [chosen, setChosen] = useState<string>();
  const overlap = chosen ?? String(limits.webhookOverlapSecondsDefault ?? 0);
  const [secret, setSecret] = useState('');
  const rotate = useWrite<WebhookWithSecret>(`app/developer_api_webhooks/${id}/rotate_secret`, {
    onDone: () => toast('Secret rotated'),
  });
  const rotated = rotate.response;
  if (rotated?.secret !== undefined) {
    return (
      <SecretDialog
        title="Save the new signing secret"
        what="signing secret"
        secret={rotated.secret}
        onClose={onClose}
      >
        <p>
          {rotated.previousSecretExpiresAt === null ? (
            'The previous secret has expired. Requests are signed with the new one only.'
          ) : (
            <>
              Both secrets stay valid until{' '}
              <Time at={rotated.previousSecretExpiresAt} kind="wall" show="both" mayBeAhead />. Update your
              receiver before then.
            </>
          )}
        </p>
        <VerificationExample />
      </SecretDialog>
    );
  }
  const customSecret = secret.trim();
  const body = { overlapSeconds: Number(overlap), ...(customSecret === '' ? {} : { secret: customSecret }) };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Rotate the signing secret"
      description="Both secrets stay valid during the overlap."
      submitLabel="Rotate secret"
      onSubmit={() => void rotate.write(body)}
      isBusy={rotate.isBusy}
      problem={rotate.problem}
      code={rotate.request({ ...body, ...shownSecret(secret) })}
    >
      <Field
        label="Previous secret"
        param="overlapSeconds"
        hint="In real time, regardless of the application clock."
      >
        <Select
          options={overlapOptions(limits.webhookOverlapSecondsDefault, limits.webhookOverlapSecondsMax)}
          value={overlap}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      </Field>
      <CustomSecretField value={secret} onChange={setSecret} />
    </Dialog>
  );
}
