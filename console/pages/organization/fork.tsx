import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { keys } from '../../client/queries.ts';
import type { Fork } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useSecretWrite } from '../secret.tsx';
import { CopyCreated } from './copy-created.tsx';

export interface ForkOrganizationProps {
  readonly name: string;
  readonly onClose: () => void;
}

export function ForkOrganization({ name, onClose }: ForkOrganizationProps) {
  const client = useQueryClient();
  const limits = useLimits();
  const [typed, setTyped] = useState(`${name} copy`);
  const fork = useSecretWrite<Fork, { name: string }>('org/fork');
  if (fork.response !== undefined)
    return <CopyCreated copy={fork.response} title="Organization forked" onClose={onClose} />;
  const submit = async () => {
    await fork.write({ name: typed.trim() });
    // The switcher in the header reads organizations from the session.
    await client.invalidateQueries({ queryKey: keys.session });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Fork organization"
      description="Copies all current records with the same ids, and creates new API keys and webhook secrets. The webhooks are disabled, and you are the owner and only member."
      submitLabel="Fork"
      onSubmit={() => void submit()}
      isBusy={fork.isBusy}
      problem={fork.problem}
    >
      <Field
        label="Name of the copy"
        missing={typed.trim() === '' ? 'Enter a name.' : undefined}
        param="name"
      >
        <Input
          required
          maxLength={limits.nameLengthMax}
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}
