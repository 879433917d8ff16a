import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Reset } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { count } from '../../parts/words.ts';

/** Back to an organization in which nothing happened yet. */
export function ResetCard({ name }: { readonly name: string }) {
  const mayReset = useAllowed('admin');
  const [isAsking, setAsking] = useState(false);
  const { toast } = useToast();
  const client = useQueryClient();
  const reset = useWrite<Reset>('org/reset', {
    onDone: ({ deleted }) => {
      const rows = Object.values(deleted).reduce((sum, number) => sum + number, 0);
      toast(`${name} is empty: ${count(rows, 'row')} deleted`);
      setAsking(false);
      // Every application of the organization shows something else from now on, not only the one that is open.
      void client.invalidateQueries();
    },
  });
  const ask = () => {
    reset.reset();
    setAsking(true);
  };
  return (
    <Card
      title="Reset"
      description="All records go: payments, customers, transfers, events, deliveries, ledger, request log. Members, applications, API keys, webhooks and the audit trail stay."
    >
      {mayReset ? (
        <Button onClick={ask}>Reset organization…</Button>
      ) : (
        <p className="text-sm text-muted">Admins and owners of the organization do this.</p>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setAsking}
        title={`Delete all records of ${name}?`}
        confirmLabel="Delete all records"
        isDanger
        isBusy={reset.isBusy}
        problem={reset.problem}
        onConfirm={() => void reset.write({})}
      >
        They cannot be brought back, unless you download a snapshot first. Every clock returns to real time,
        and fault plans end.
      </ConfirmDialog>
    </Card>
  );
}
