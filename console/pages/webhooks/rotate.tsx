import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Webhook } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, isAbout, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog } from '../secret.tsx';
import { OwnSecret, Verifying } from './secret.tsx';

const overlaps = [
  { value: '0', label: 'Ends at once' },
  { value: '3600', label: 'Signs for another hour' },
  { value: '86400', label: 'Signs for another day' },
  { value: '604800', label: 'Signs for another week' },
];

/** Mounted while it is open, so that the secret is gone when it closes. */
export function RotateSecret({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { toast } = useToast();
  const [overlap, setOverlap] = useState('86400');
  const [secret, setSecret] = useState('');
  const rotate = useWrite<Webhook>(`app/developer_api_webhooks/${id}/rotate_secret`, {
    onDone: () => toast('Secret rotated'),
  });
  const made = rotate.answer;
  if (made?.secret !== undefined) {
    return (
      <SecretDialog
        title="Keep the new signing secret"
        what="signing secret"
        secret={made.secret}
        onClose={onClose}
      >
        <p>
          {made.previousSecretExpiresAt === null ? (
            'The old secret has ended. Requests are signed with the new one only.'
          ) : (
            <>
              Both secrets sign until <Time at={made.previousSecretExpiresAt} show="both" /> by the
              application’s clock. Change your receiver over before then.
            </>
          )}
        </p>
        <Verifying />
      </SecretDialog>
    );
  }
  const own = secret.trim();
  const body = { overlapSeconds: Number(overlap), ...(own === '' ? {} : { secret: own }) };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Rotate the signing secret"
      description="While both sign, a receiver that knows either of them accepts every request."
      submitLabel="Rotate secret"
      onSubmit={() => void rotate.write(body)}
      isBusy={rotate.isBusy}
      problem={isAbout(rotate.problem, 'secret') ? null : rotate.problem}
    >
      <Field label="The old secret" hint="In real time, whatever the application’s clock says.">
        <Select
          options={overlaps}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value)}
        />
      </Field>
      <OwnSecret value={secret} onChange={setSecret} problem={rotate.problem} />
    </Dialog>
  );
}
