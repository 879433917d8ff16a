import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keys, useWrite } from '../../client/queries.ts';
import type { Member } from '../../client/shapes.ts';
import { usePerson, useRole } from '../../frame/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { type ListedMember, RoleChoices } from './roles.tsx';

export interface MemberDialogProps {
  readonly member: ListedMember;
  readonly onClose: () => void;
}

export function ChangeRole({ member, onClose }: MemberDialogProps) {
  const { toast } = useToast();
  const client = useQueryClient();
  const person = usePerson();
  const byRole = useRole();
  const [role, setRole] = useState(member.role);
  const isOwn = member.personId === person.id;
  const change = useWrite<Member>(`org/members/${member.id}/role`, {
    onDone: () => {
      toast(isOwn ? `You are ${role} now` : `${member.name} is ${role} now`);
      onClose();
      // What the person may do is known from the session.
      if (isOwn) void client.invalidateQueries({ queryKey: keys.session });
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={isOwn ? 'Change your role' : `Change the role of ${member.name}`}
      description={member.email}
      submitLabel="Change role"
      onSubmit={() => void change.write({ role })}
      isBusy={change.isBusy}
      isSubmitDisabled={role === member.role}
      problem={change.problem}
    >
      <RoleChoices role={role} byRole={byRole} onChange={setRole} />
      {isOwn && role !== member.role ? (
        <p className="text-sm text-warn">
          This is your own role: once you have a lower one, somebody else must give this one back to you.
        </p>
      ) : null}
    </Dialog>
  );
}
