import { Undo2 } from 'lucide-react';
import type { Refund } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordList } from '../records/record-list.tsx';

const columns: readonly Column<Refund>[] = [
  {
    header: 'Amount',
    align: 'right',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Reason',
    isWide: true,
    isMinor: true,
    cell: ({ reason }) => reason ?? <span className="text-faint">No reason</span>,
  },
  {
    header: 'Payment',
    isMinor: true,
    cell: ({ paymentId }) => <IdText id={paymentId} isShort what="payment id" />,
  },
  { header: 'Id', isExtra: true, cell: ({ id }) => <IdText id={id} isShort what="refund id" /> },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function RefundList() {
  return (
    <RecordList
      kind="refund"
      columns={columns}
      placeholder="Reason, reference or id"
      hasAmount
      texts={[{ name: 'paymentId', label: 'Payment', placeholder: 'pay_…' }]}
      none={{
        icon: <Undo2 aria-hidden size={20} />,
        description:
          'A refund returns captured money, in part or in full. Create one on the page of a captured payment.',
        action: (
          <Anchor to="payments" className={buttonClass('primary')}>
            View payments
          </Anchor>
        ),
      }}
    />
  );
}
