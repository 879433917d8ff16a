import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Application } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';

/** Puts an application away, or brings it back. */
export function ArchiveCard({ application }: { readonly application: Application }) {
  const { id, name, status } = application;
  const mayArchive = useAllowed('admin');
  const [isAsking, setAsking] = useState(false);
  const { toast } = useToast();
  const isActive = status === 'active';
  const move = useWrite(`org/applications/${id}/${isActive ? 'archive' : 'restore'}`, {
    onDone: () => {
      toast(isActive ? `${name} archived` : `${name} restored`);
      setAsking(false);
    },
  });
  const ask = () => {
    move.reset();
    setAsking(true);
  };
  return (
    <Card
      title={isActive ? 'Archive' : 'Restore'}
      description={
        isActive
          ? 'Its API keys stop working and its settings stand still. All records stay and can be read, and it can be restored.'
          : 'Its API keys work again, except for those that were revoked or have expired.'
      }
    >
      {mayArchive ? (
        <Button onClick={ask}>{isActive ? 'Archive application…' : 'Restore application…'}</Button>
      ) : (
        <p className="text-sm text-muted">Admins and owners of the organization do this.</p>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setAsking}
        title={isActive ? `Archive ${name}?` : `Restore ${name}?`}
        confirmLabel={isActive ? 'Archive' : 'Restore'}
        isDanger={isActive}
        isBusy={move.isBusy}
        problem={move.problem}
        onConfirm={() => void move.write({})}
      >
        {isActive
          ? 'Every call with one of its API keys is refused from now on. Nothing is deleted; what its clock still owes goes on.'
          : 'Calls with its API keys are answered again, and it can be changed again.'}
      </ConfirmDialog>
    </Card>
  );
}
