import { useQueryClient } from '@tanstack/react-query';
import { useOpenParam } from '../../client/filters.ts';
import { useWrite } from '../../client/queries.ts';
import { postRequest } from '../../client/request.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Reset } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ActionCard } from '../../parts/card.tsx';
import { pluralize } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';
import { ConfirmName } from './confirm-name.tsx';

/** Deletes all records of the organization. */
export function ResetCard({ name }: { readonly name: string }) {
  const mayReset = useAllowed('admin');
  const [isConfirming, setConfirming] = useOpenParam('reset');
  const { toast } = useToast();
  const client = useQueryClient();
  const reset = useWrite<Reset>('org/reset', {
    onDone: ({ deleted }) => {
      const rows = Object.values(deleted).reduce((sum, number) => sum + number, 0);
      toast(`${name} is empty: ${pluralize(rows, 'row')} deleted`);
      setConfirming(false);
      // The data of every application has changed, not only of the open one.
      void client.invalidateQueries();
    },
  });
  const openDialog = () => {
    reset.reset();
    setConfirming(true);
  };
  return (
    <>
      <ActionCard
        title="Reset"
        description="Deletes all records: payments, customers, transfers, events, deliveries, ledger, request log. Members, applications, API keys, webhooks and the audit trail remain."
        action={<Button onClick={openDialog}>Reset organization…</Button>}
        obstacle={mayReset ? undefined : 'Requires the admin or owner role.'}
      />
      {isConfirming && mayReset ? (
        <ConfirmName
          name={name}
          title={`Delete all records of ${name}?`}
          description="This cannot be undone. If you may need the records, download a snapshot first. Every clock returns to real time, and fault plans end."
          submitLabel="Delete all records"
          problem={reset.problem}
          isBusy={reset.isBusy}
          onSubmit={(typed) => void reset.write({ name: typed })}
          onClose={() => setConfirming(false)}
          code={postRequest('developer_api_reset', {})}
          codeNote="The API asks for no name. It requires a key that may reset the organization."
        />
      ) : null}
    </>
  );
}
