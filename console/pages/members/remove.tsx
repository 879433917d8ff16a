import { useWrite } from '../../client/queries.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { MemberDialogProps } from './change-role.tsx';

export function RemoveMember({ member, onClose }: MemberDialogProps) {
  const { toast } = useToast();
  const remove = useWrite(`org/members/${member.id}/remove`, {
    onDone: () => {
      toast(`${member.name} removed`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Remove ${member.name}?`}
      confirmLabel="Remove member"
      isDanger
      isBusy={remove.isBusy}
      problem={remove.problem}
      onConfirm={() => void remove.write({})}
    >
      {member.email} sees nothing of this organization from now on. What they did stays in the audit trail,
      and API keys that they made go on working. An invitation brings them back.
    </ConfirmDialog>
  );
}

export interface LeaveProps {
  readonly memberId: string;
  readonly organizationName: string;
  readonly onClose: () => void;
}

export function LeaveOrganization({ memberId, organizationName, onClose }: LeaveProps) {
  const leave = useWrite(`org/members/${memberId}/remove`, {
    // The page is loaded anew, so that nothing of the organization is left in it.
    onDone: () => location.assign('/console/'),
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Leave ${organizationName}?`}
      confirmLabel="Leave"
      isDanger
      isBusy={leave.isBusy}
      problem={leave.problem}
      onConfirm={() => void leave.write({})}
    >
      You see nothing of it from now on. Only an invitation brings you back.
    </ConfirmDialog>
  );
}
