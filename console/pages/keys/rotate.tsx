import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import type { ApiKeyWithSecret, ListedApiKey } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { overlapOptions } from '../overlap-options.ts';
import { useSecretWrite } from '../secret.tsx';
import { CreatedKey } from './created-key.tsx';
import type { KeyDialogProps } from './edit.tsx';

export function RotateKey({ apiKey, onClose }: KeyDialogProps) {
  const limits = useLimits();
  const [chosen, setChosen] = useState<string>();
  const overlap = chosen ?? String(limits.apiKeyOverlapSecondsDefault ?? 0);
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
        param="overlapSeconds"
        label={`The previous key, …${apiKey.lastFour}`}
        hint="Time to deploy the new key before the old one stops working."
      >
        <Select
          value={overlap}
          options={overlapOptions(limits.apiKeyOverlapSecondsDefault, limits.apiKeyOverlapSecondsMax)}
          onChange={(event) => setChosen(event.currentTarget.value)}
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
