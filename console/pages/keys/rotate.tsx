import { useState } from 'react';
import type { ApiKeyWithSecret, ListedApiKey } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useSecretWrite } from '../secret.tsx';
import { CreatedKey } from './created-key.tsx';
import type { KeyDialogProps } from './edit.tsx';

const overlaps = [
  { value: '0', label: 'None: it expires immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

export function RotateKey({ apiKey, onClose }: KeyDialogProps) {
  const [overlap, setOverlap] = useState('86400');
  const rotate = useSecretWrite<ApiKeyWithSecret>(`app/api_keys/${apiKey.id}/rotate`);
  const { response } = rotate;
  if (response !== undefined) {
    const endsAt = expiryOfPrevious(apiKey, response, Number(overlap));
    return (
      <CreatedKey title="API key rotated" created={response} onClose={onClose}>
        <p>
          The previous key, <code className="font-mono text-sm">…{apiKey.lastFour}</code>,{' '}
          {overlap === '0' ? (
            'has expired.'
          ) : (
            <>
              expires <Time at={endsAt} kind="wall" show="both" mayBeAhead />.
            </>
          )}
        </p>
      </CreatedKey>
    );
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title={`Rotate ${apiKey.name}`}
      description="Creates a key with the same name, scopes, networks, permissions and expiry."
      submitLabel="Rotate key"
      onSubmit={() => void rotate.write({ overlapSeconds: Number(overlap) })}
      isBusy={rotate.isBusy}
      problem={rotate.problem}
    >
      <Field
        label={`How long …${apiKey.lastFour} still works`}
        hint="Time to deploy the new key before the old one stops working."
      >
        <Select
          value={overlap}
          options={overlaps}
          onChange={(event) => setOverlap(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}

/** When the old key expires: the overlap never extends its expiry. */
function expiryOfPrevious(previous: ListedApiKey, created: ApiKeyWithSecret, overlapSeconds: number): string {
  const until = Date.parse(created.createdAt) + overlapSeconds * 1000;
  const expiresAt = previous.expiresAt === null ? until : Date.parse(previous.expiresAt);
  return new Date(Math.min(until, expiresAt)).toISOString();
}
