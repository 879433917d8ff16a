import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keys, useWrite } from '../../client/queries.ts';
import { usePerson, useRole } from '../../frame/session.tsx';
import type { Member } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { RoleField } from './roles.tsx';

export interface MemberDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export function ChangeRole({ member, onClose }: MemberDialogProps) {
  const { toast } = useToast();
  const client = useQueryClient();
  const person = usePerson();
  const ownRole = useRole();
  const [role, setRole] = useState(member.role);
  const isOwn = member.personId === person.id;
  const change = useWrite<Member>(`org/members/${member.id}/role`, {
    onDone: () => {
      toast(isOwn ? `You are ${role} now` : `${member.name} is ${role} now`);
      onClose();
      // The session contains the person's role.
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
      // Without a change there is nothing to save.
      onSubmit={() => (role === member.role ? onClose() : void change.write({ role }))}
      isBusy={change.isBusy}
      problem={change.problem}
    >
      <RoleField role={role} ownRole={ownRole} onChange={setRole} />
      {isOwn && role !== member.role ? (
        <p className="text-sm text-warn">
          This is your own role: if you lower it, another member must restore it.
        </p>
      ) : null}
    </Dialog>
  );
}
