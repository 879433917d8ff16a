import type { ResetLink } from '../../client/shapes.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';
import { SecretDialog, useSecretWrite } from '../secret.tsx';
import type { MemberDialogProps } from './change-role.tsx';

/** An owner helps a member who has forgotten the password. */
export function ResetPassword({ member, onClose }: MemberDialogProps) {
  const make = useSecretWrite<ResetLink>(`org/members/${member.id}/reset_link`);
  if (make.made !== undefined) {
    return (
      <SecretDialog
        title="Reset link made"
        description={`For ${member.name}, ${member.email}`}
        what="reset link"
        secret={make.made.url}
        onClose={onClose}
      >
        <p className="text-muted">
          Whoever has the link can choose the password, so hand it to {member.name} alone. It works once and
          ends <Time at={make.made.expiresAt} kind="wall" show="both" />.
        </p>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Reset the password of ${member.name}?`}
      confirmLabel="Make link"
      isBusy={make.isBusy}
      problem={make.problem}
      onConfirm={() => void make.write({})}
    >
      You get a link with which {member.email} chooses a new password. Sandbank sends no e-mail: you hand it
      over yourself. The present password works until the link is used; then all of their sessions end.
    </ConfirmDialog>
  );
}
