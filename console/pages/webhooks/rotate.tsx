import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { WebhookWithSecret } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, problemOutsideFields, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog } from '../secret.tsx';
import { CustomSecretField, shownSecret, VerificationExample } from './secret.tsx';

const overlaps = [
  { value: '0', label: 'Expires immediately' },
  { value: '3600', label: 'Signs for another hour' },
  { value: '86400', label: 'Signs for another day' },
  { value: '604800', label: 'Signs for another week' },
];

/** Mounted only while open, so that closing it discards the secret. */
export function RotateSecret({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { toast } = useToast();
  const [overlap, setOverlap] = useState('86400');
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
            'The old secret has expired. Requests are signed with the new one only.'
          ) : (
            <>
              Both secrets sign until{' '}
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
      description="While both secrets sign, a receiver that knows either accepts every request."
      submitLabel="Rotate secret"
      onSubmit={() => void rotate.write(body)}
      isBusy={rotate.isBusy}
      problem={problemOutsideFields(rotate.problem, ['secret'])}
      code={rotate.request({ ...body, ...shownSecret(secret) })}
    >
      <Field label="The old secret" hint="In real time, regardless of the application clock.">
        <Select
          options={overlaps}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value)}
        />
      </Field>
      <CustomSecretField value={secret} onChange={setSecret} problem={rotate.problem} />
    </Dialog>
  );
}
