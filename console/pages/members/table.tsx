import { Ellipsis, KeyRound, LogOut, ShieldCheck, UserCog, UserMinus } from 'lucide-react';
import type { List, Read } from '../../client/queries.ts';
import { useAllowed, usePerson, useRole } from '../../frame/session.tsx';
import type { Member } from '../../generated/shapes.ts';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../parts/menu.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { roleDescription } from './roles.tsx';

export type MemberAction = 'role' | 'reset' | 'remove' | 'leave';
type OnAction = (action: MemberAction, member: Member) => void;

export interface MemberTableProps {
  readonly list: Read<List<Member>>;
  readonly onAction: OnAction;
}

export function MemberTable({ list, onAction }: MemberTableProps) {
  const person = usePerson();
  return (
    <Table
      caption="Members of the organization"
      columns={[
        nameOf(person.id),
        ...facts,
        {
          header: 'Actions',
          align: 'right',
          cell: (member) => (
            <MemberMenu member={member} isOwn={member.personId === person.id} onAction={onAction} />
          ),
        },
      ]}
      rows={list.data?.data ?? []}
      rowKey={({ id }) => id}
      isLoading={list.isLoading}
      isRefreshing={list.isRefreshing}
      problem={list.problem}
    />
  );
}

const nameOf = (personId: string): Column<Member> => ({
  header: 'Name',
  isWide: true,
  cell: (member) => (
    <>
      <span className="block truncate font-medium" title={member.name}>
        {member.name}
        {member.personId === personId ? <span className="font-normal text-muted"> (you)</span> : null}
      </span>
      <span className="block truncate text-muted" title={member.email}>
        {member.email}
      </span>
    </>
  ),
});

const facts: readonly Column<Member>[] = [
  {
    header: 'Role',
    cell: ({ role }) => (
      <span title={roleDescription(role)}>
        <StatusBadge status={role} />
      </span>
    ),
  },
  {
    header: 'Two-factor',
    isMinor: true,
    cell: ({ twoFactor }) =>
      twoFactor ? (
        <span className="inline-flex items-center gap-1 text-good">
          <ShieldCheck aria-hidden size={15} />
          On
        </span>
      ) : (
        <span className="text-faint">Off</span>
      ),
  },
  { header: 'Joined', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} kind="wall" /> },
];

interface MemberMenuProps {
  readonly member: Member;
  readonly isOwn: boolean;
  readonly onAction: OnAction;
}

/** Admins manage everyone except owners, owners manage everyone; every member can leave. */
function MemberMenu({ member, isOwn, onAction }: MemberMenuProps) {
  const role = useRole();
  const isAdmin = useAllowed('admin');
  const mayManage = isAdmin && (member.role !== 'owner' || role === 'owner');
  const mayReset = role === 'owner' && !isOwn;
  if (!mayManage && !isOwn) return null;
  return (
    <Menu
      trigger={
        <IconButton
          label={`Actions for ${member.name}`}
          icon={<Ellipsis aria-hidden size={16} />}
          size="small"
        />
      }
    >
      {mayManage ? (
        <MenuItem icon={<UserCog aria-hidden size={15} />} onSelect={() => onAction('role', member)}>
          Change role…
        </MenuItem>
      ) : null}
      {mayReset ? (
        <MenuItem icon={<KeyRound aria-hidden size={15} />} onSelect={() => onAction('reset', member)}>
          Reset password…
        </MenuItem>
      ) : null}
      {mayManage ? <MenuSeparator /> : null}
      {isOwn ? (
        <MenuItem isDanger icon={<LogOut aria-hidden size={15} />} onSelect={() => onAction('leave', member)}>
          Leave…
        </MenuItem>
      ) : (
        <MenuItem
          isDanger
          icon={<UserMinus aria-hidden size={15} />}
          onSelect={() => onAction('remove', member)}
        >
          Remove…
        </MenuItem>
      )}
    </Menu>
  );
}
