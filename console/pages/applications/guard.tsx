import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../../parts/dialog.tsx';

/** Asks for confirmation before navigation or closing the page discards unsaved changes. */
export function UnsavedGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    // The layout updates the search params itself; that loses no changes.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={blocker.status === 'blocked'}
      onOpenChange={(isOpen) => {
        if (!isOpen) blocker.reset?.();
      }}
      title="Leave without saving?"
      confirmLabel="Leave"
      isDanger
      onConfirm={() => blocker.proceed?.()}
    >
      Your changes to these settings are not saved.
    </ConfirmDialog>
  );
}
