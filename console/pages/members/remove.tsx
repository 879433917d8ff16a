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
      {member.email} loses access to this organization. Their audit entries remain, and API keys that they
      created continue to work. You can invite them again.
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
    // Reload the page, so that no data of the organization remains in memory.
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
      You lose access to it. To return, you need an invitation.
    </ConfirmDialog>
  );
}
