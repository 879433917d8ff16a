import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { keys } from '../../client/queries.ts';
import type { Fork } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, problemOutsideFields } from '../../parts/field.tsx';
import { SecretDialog, useSecretWrite } from '../secret.tsx';

export interface ForkOrganizationProps {
  readonly name: string;
  readonly onClose: () => void;
}

export function ForkOrganization({ name, onClose }: ForkOrganizationProps) {
  const client = useQueryClient();
  const limits = useLimits();
  const [typed, setTyped] = useState(`${name} copy`);
  const fork = useSecretWrite<Fork, { name: string }>('org/fork');
  if (fork.response !== undefined) return <ForkCreated fork={fork.response} onClose={onClose} />;
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
      isSubmitDisabled={typed.trim() === ''}
      problem={problemOutsideFields(fork.problem, ['name'])}
    >
      <Field label="Name of the copy" problem={fork.problem} param="name">
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

/** Shows the new keys and secrets once; without keys and webhooks there are none to show. */
function ForkCreated({ fork, onClose }: { readonly fork: Fork; readonly onClose: () => void }) {
  const { organization, apiKeys, webhooks } = fork;
  const lines = [
    ...apiKeys.flatMap(({ name, key }) => (key === undefined ? [] : `${name}\n${key}`)),
    ...webhooks.flatMap(({ url, secret }) => (secret === undefined ? [] : `${url}\n${secret}`)),
  ];
  const open = (
    <Anchor to={`/${organization.id}`} search={{ app: undefined }} className={buttonClass()}>
      Open {organization.name}
    </Anchor>
  );
  if (lines.length === 0)
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        title="Organization forked"
        footer={
          <>
            {open}
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <p>{organization.name} was created. Like the original, it has no API keys and no webhooks.</p>
      </Dialog>
    );
  return (
    <SecretDialog
      title="Organization forked"
      description={organization.name}
      what="keys and secrets"
      warning="This is the only time that the new API keys and webhook secrets are shown. Copy them now and store them safely."
      secret={lines.join('\n\n')}
      onClose={onClose}
      more={open}
    />
  );
}
