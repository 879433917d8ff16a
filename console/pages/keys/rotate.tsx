import { useState } from 'react';
import type { ApiKey } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useSecretWrite } from '../secret.tsx';
import type { KeyDialogProps } from './edit.tsx';
import { MadeKey } from './made.tsx';

const overlaps = [
  { value: '0', label: 'None: it ends at once' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

export function RotateKey({ apiKey, onClose }: KeyDialogProps) {
  const [overlap, setOverlap] = useState('86400');
  const rotate = useSecretWrite<ApiKey>(`app/api_keys/${apiKey.id}/rotate`);
  const { made } = rotate;
  if (made !== undefined) {
    const endsAt = endOf(apiKey, made, Number(overlap));
    return (
      <MadeKey title="API key rotated" made={made} onClose={onClose}>
        <p>
          The key before, <code className="font-mono text-sm">…{apiKey.lastFour}</code>,{' '}
          {overlap === '0' ? (
            'has ended.'
          ) : (
            <>
              ends <Time at={endsAt} kind="wall" show="both" />.
            </>
          )}
        </p>
      </MadeKey>
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
        hint="Time to put the new key everywhere before the old one is refused."
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

/** The overlap never makes a key live longer than it would have. */
function endOf(before: ApiKey, made: ApiKey, overlapSeconds: number): string {
  const until = Date.parse(made.createdAt) + overlapSeconds * 1000;
  const own = before.expiresAt === null ? until : Date.parse(before.expiresAt);
  return new Date(Math.min(until, own)).toISOString();
}
