import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { type List, useRead, useWrite } from '../../client/queries.ts';
import type { Invitation } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportRows } from '../../parts/export-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';

/** Invitations that can still be accepted; visible to admins and owners. */
export function Invitations() {
  const list = useRead<List<Invitation>>('org/invitations');
  const [chosen, setChosen] = useState<Invitation | null>(null);
  return (
    <section className="mt-8">
      <div className="mb-3 flex items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Open invitations</h2>
        <ExportRows rows={list.data?.data ?? []} name="invitations" label="Export invitations" />
      </div>
      <Table
        caption="Open invitations"
        columns={columnsFor(setChosen)}
        rows={list.data?.data ?? []}
        rowKey={({ id }) => id}
        isLoading={list.isLoading}
        isRefreshing={list.isRefreshing}
        problem={list.problem}
        empty={
          <EmptyState title="No open invitations">
            An invitation is listed here until it is accepted or revoked, or expires after{' '}
            {useLimits().invitationDays ?? 'some'} days.
          </EmptyState>
        }
      />
      {chosen ? <Revoke invitation={chosen} onClose={() => setChosen(null)} /> : null}
    </section>
  );
}

function inviteeLabel({ email }: Invitation): string {
  return email ?? 'Anyone with the link';
}

function columnsFor(onRevoke: (invitation: Invitation) => void): readonly Column<Invitation>[] {
  return [
    {
      header: 'For',
      isWide: true,
      cell: (one) => <span title={inviteeLabel(one)}>{inviteeLabel(one)}</span>,
    },
    { header: 'Role', cell: ({ role }) => <StatusBadge status={role} /> },
    { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} kind="wall" /> },
    {
      header: 'Expires',
      isMinor: true,
      cell: ({ expiresAt }) => <Time at={expiresAt} kind="wall" mayBeAhead />,
    },
    {
      header: 'Actions',
      align: 'right',
      cell: (one) => (
        <Button
          size="small"
          aria-label={`Revoke the invitation for ${one.email ?? 'anyone with the link'}`}
          onClick={() => onRevoke(one)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}

interface RevokeProps {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

function Revoke({ invitation, onClose }: RevokeProps) {
  const { toast } = useToast();
  const revoke = useWrite(`org/invitations/${invitation.id}/revoke`, {
    onDone: () => {
      toast('Invitation revoked');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="Revoke the invitation?"
      confirmLabel="Revoke"
      isDanger
      isBusy={revoke.isBusy}
      problem={revoke.problem}
      onConfirm={() => void revoke.write({})}
    >
      The link for {invitation.email ?? 'anyone with the link'} ({invitation.role}) no longer works. You can
      create another one.
    </ConfirmDialog>
  );
}
