import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../../parts/dialog.tsx';

/** Asks before another page, or the end of this one, takes unsaved changes away. */
export function UnsavedGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    // The layout rewrites the search part of the address by itself; that loses nothing.
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
      Your changes to these settings are not saved yet.
    </ConfirmDialog>
  );
}
