import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Application } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ActionCard } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';

/** Archives or restores an application. */
export function ArchiveCard({ application }: { readonly application: Application }) {
  const { id, name, status } = application;
  const mayArchive = useAllowed('admin');
  const [isConfirming, setConfirming] = useState(false);
  const { toast } = useToast();
  const isActive = status === 'active';
  const move = useWrite(`org/applications/${id}/${isActive ? 'archive' : 'restore'}`, {
    onDone: () => {
      toast(isActive ? `${name} archived` : `${name} restored`);
      setConfirming(false);
    },
  });
  const openDialog = () => {
    move.reset();
    setConfirming(true);
  };
  return (
    <>
      <ActionCard
        title={isActive ? 'Archive' : 'Restore'}
        description={
          isActive
            ? 'Its API keys stop working and its settings become read-only. All records stay readable, and you can restore it.'
            : 'Its API keys work again, except revoked and expired ones.'
        }
        action={
          <Button onClick={openDialog}>{isActive ? 'Archive application…' : 'Restore application…'}</Button>
        }
        obstacle={mayArchive ? undefined : 'Requires the admin or owner role.'}
      />
      <ConfirmDialog
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        title={isActive ? `Archive ${name}?` : `Restore ${name}?`}
        confirmLabel={isActive ? 'Archive' : 'Restore'}
        isDanger={isActive}
        isBusy={move.isBusy}
        problem={move.problem}
        onConfirm={() => void move.write({})}
      >
        {isActive
          ? 'Requests with its API keys are rejected from now on. Nothing is deleted; scheduled steps still run.'
          : 'Requests with its API keys are accepted again, and its settings can be changed.'}
      </ConfirmDialog>
    </>
  );
}
