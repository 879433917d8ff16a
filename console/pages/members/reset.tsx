import type { ResetLink } from '../../generated/shapes.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';
import { SecretDialog, useSecretWrite } from '../secret.tsx';
import type { MemberDialogProps } from './change-role.tsx';

/** Lets an owner create a reset link for a member who has forgotten the password. */
export function ResetPassword({ member, onClose }: MemberDialogProps) {
  const create = useSecretWrite<ResetLink>(`org/members/${member.id}/reset_link`);
  if (create.response !== undefined) {
    return (
      <SecretDialog
        title="Reset link created"
        description={`For ${member.name}, ${member.email}`}
        what="reset link"
        secret={create.response.url ?? ''}
        onClose={onClose}
      >
        <p className="text-muted">
          Anyone with the link can set the password, so give it only to {member.name}. It works once and
          expires <Time at={create.response.expiresAt} kind="wall" show="both" mayBeAhead />.
        </p>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Reset the password of ${member.name}?`}
      confirmLabel="Create link"
      isBusy={create.isBusy}
      problem={create.problem}
      onConfirm={() => void create.write({})}
    >
      Creates a link with which {member.email} sets a new password. Sandbank sends no email: you share it
      yourself. The current password works until the link is used; then all their sessions end.
    </ConfirmDialog>
  );
}
