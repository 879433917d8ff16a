import { ShieldAlert } from 'lucide-react';
import { useAllowed } from '../../frame/session.tsx';
import type { Dispute } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordList } from '../records/record-list.tsx';

const columns: readonly Column<Dispute>[] = [
  {
    header: 'Amount',
    align: 'right',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Reason', isWide: true, isMinor: true, cell: ({ reason }) => reason },
  { header: 'Stage', isMinor: true, cell: ({ stage }) => sentenceCase(stage) },
  {
    header: 'Respond by',
    cell: ({ status, respondBy }) =>
      status === 'needs_response' ? (
        <Time at={respondBy} show="relative" mayBeAhead />
      ) : (
        <span className="text-faint">—</span>
      ),
  },
  { header: 'Id', isExtra: true, cell: ({ id }) => <IdText id={id} isShort what="dispute id" /> },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function DisputeList() {
  const mayWrite = useAllowed('developer');
  return (
    <RecordList
      kind="dispute"
      columns={columns}
      placeholder="Reason, reference or id"
      hasAmount
      texts={[{ name: 'paymentId', label: 'Payment', placeholder: 'pay_…' }]}
      none={{
        icon: <ShieldAlert aria-hidden size={20} />,
        description:
          'A dispute is a customer’s objection to a payment. Create a payment with the scenario “dispute”, or run the action “dispute” on a captured payment.',
        action: mayWrite ? (
          <Anchor to="payments" search={{ create: '1' }} className={buttonClass('primary')}>
            Create a payment to dispute
          </Anchor>
        ) : undefined,
      }}
    />
  );
}
