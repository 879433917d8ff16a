import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { ActionCard } from '../../parts/card.tsx';
import { ConfirmName } from './confirm-name.tsx';

export function DeleteCard({ name }: { readonly name: string }) {
  const mayDelete = useAllowed('owner');
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <ActionCard
        title="Delete"
        description="Deletes the organization with its applications, API keys, webhooks, members and records. The audit trail is retained for the operator of the server."
        action={<Button onClick={() => setConfirming(true)}>Delete organization…</Button>}
        obstacle={mayDelete ? undefined : 'Only an owner can delete the organization.'}
      />
      {isConfirming ? <DeleteOrganization name={name} onClose={() => setConfirming(false)} /> : null}
    </>
  );
}

function DeleteOrganization({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const remove = useWrite<unknown, { name: string }>('org/organization/delete', {
    // Reload the page, so that no data of the organization remains in memory.
    onDone: () => location.assign('/console/'),
  });
  return (
    <ConfirmName
      name={name}
      title={`Delete ${name}?`}
      description="API keys stop working and all members lose access immediately. This cannot be undone. If you may need the records, download a snapshot first."
      submitLabel="Delete organization"
      problem={remove.problem}
      isBusy={remove.isBusy}
      onSubmit={(typed) => void remove.write({ name: typed })}
      onClose={onClose}
    />
  );
}
