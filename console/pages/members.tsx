import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useOpenParam } from '../client/filters.ts';
import { type List, useRead } from '../client/queries.ts';
import { useScope } from '../client/scope.ts';
import { useAllowed, useSession } from '../frame/session.tsx';
import type { Member } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { ExportRows } from '../parts/export-button.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ChangeRole } from './members/change-role.tsx';
import { Invitations } from './members/invitations.tsx';
import { InviteMember } from './members/invite.tsx';
import { LeaveOrganization, RemoveMember } from './members/remove.tsx';
import { ResetPassword } from './members/reset.tsx';
import { type MemberAction, MemberTable } from './members/table.tsx';

/** Members and open invitations of the organization. */
export function Members() {
  const list = useRead<List<Member>>('org/members');
  const [isInviting, setInviting] = useOpenParam('create');
  const [chosen, setChosen] = useState<{ action: MemberAction; member: Member } | null>(null);
  const isAdmin = useAllowed('admin');
  return (
    <>
      <PageHeader
        title="Members"
        description={
          isAdmin
            ? 'The members of this organization and their roles.'
            : 'The members of this organization and their roles. Inviting and removing members requires the admin role.'
        }
        actions={
          <>
            <ExportRows rows={list.data?.data ?? []} name="members" />
            <Anchor to="organization" className={buttonClass()}>
              Organization
            </Anchor>
            {isAdmin ? (
              <Button
                variant="primary"
                icon={<UserPlus aria-hidden size={16} />}
                onClick={() => setInviting(true)}
              >
                Invite
              </Button>
            ) : null}
          </>
        }
      />
      <MemberTable list={list} onAction={(action, member) => setChosen({ action, member })} />
      {isAdmin ? (
        // Loads at once, and is shown where it stays: below a table whose length is known.
        <div className={list.isLoading ? 'invisible' : undefined}>
          <Invitations />
        </div>
      ) : null}
      {isInviting && isAdmin ? <InviteMember onClose={() => setInviting(false)} /> : null}
      {chosen ? <Chosen {...chosen} onClose={() => setChosen(null)} /> : null}
    </>
  );
}

interface ChosenProps {
  readonly action: MemberAction;
  readonly member: Member;
  readonly onClose: () => void;
}

function Chosen({ action, member, onClose }: ChosenProps) {
  const { organizations } = useSession();
  const { orgId } = useScope();
  switch (action) {
    case 'role':
      return <ChangeRole member={member} onClose={onClose} />;
    case 'reset':
      return <ResetPassword member={member} onClose={onClose} />;
    case 'remove':
      return <RemoveMember member={member} onClose={onClose} />;
    case 'leave': {
      const name = organizations.find(({ id }) => id === orgId)?.name ?? 'the organization';
      return <LeaveOrganization memberId={member.id} organizationName={name} onClose={onClose} />;
    }
  }
}
