import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, problemOutsideFields } from '../../parts/field.tsx';

export function DeleteCard({ name }: { readonly name: string }) {
  const mayDelete = useAllowed('owner');
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Card
      title="Delete"
      description="Deletes the organization with its applications, API keys, webhooks, members and records. The audit trail is retained for the operator of the server."
    >
      {mayDelete ? (
        <Button onClick={() => setConfirming(true)}>Delete organization…</Button>
      ) : (
        <p className="text-sm text-muted">Only an owner can delete the organization.</p>
      )}
      {isConfirming ? <DeleteOrganization name={name} onClose={() => setConfirming(false)} /> : null}
    </Card>
  );
}

/** The owner types the name, to prevent deleting the wrong organization. */
function DeleteOrganization({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const limits = useLimits();
  const [typed, setTyped] = useState('');
  const remove = useWrite<unknown, { name: string }>('org/organization/delete', {
    // Reload the page, so that no data of the organization remains in memory.
    onDone: () => location.assign('/console/'),
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={`Delete ${name}?`}
      description="API keys stop working and all members lose access immediately. This cannot be undone. If you may need the records, download a snapshot first."
      submitLabel="Delete organization"
      onSubmit={() => void remove.write({ name: typed })}
      isBusy={remove.isBusy}
      isSubmitDisabled={typed !== name}
      isDanger
      problem={problemOutsideFields(remove.problem, ['name'])}
    >
      <Field label={`Type ${name} to confirm`} problem={remove.problem} param="name">
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
