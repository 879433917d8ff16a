import { useWrite } from '../../client/queries.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { KeyDialogProps } from './edit.tsx';

export function RevokeKey({ apiKey, onClose }: KeyDialogProps) {
  const { toast } = useToast();
  const revoke = useWrite(`app/api_keys/${apiKey.id}/revoke`, {
    onDone: () => {
      toast(`${apiKey.name} revoked`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Revoke ${apiKey.name}?`}
      confirmLabel="Revoke key"
      isDanger
      isBusy={revoke.isBusy}
      problem={revoke.problem}
      onConfirm={() => void revoke.write({})}
    >
      <p>
        Requests with <code className="font-mono text-sm">…{apiKey.lastFour}</code> are rejected from now on.
        A revoked key cannot be restored.
      </p>
      {apiKey.lastUsedAt === null ? null : (
        <p className="mt-2">
          It was last used <Time at={apiKey.lastUsedAt} kind="wall" show="relative" />
          {apiKey.lastUsedIp === null ? null : ` from ${apiKey.lastUsedIp}`}.
        </p>
      )}
    </ConfirmDialog>
  );
}
