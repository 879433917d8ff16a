import type { Payment } from '../../generated/shapes.ts';
import { IdText } from '../../parts/copy-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { CustomerCell } from '../records/customer-names.tsx';

/** Also used for a customer's payments. */
export const paymentColumns: readonly Column<Payment>[] = [
  {
    header: 'Amount',
    align: 'right',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Customer',
    isMinor: true,
    cell: ({ customerId }) => <CustomerCell id={customerId} />,
  },
  {
    header: 'Description',
    isWide: true,
    isMinor: true,
    cell: ({ description, reference }) => (
      <>
        {description}
        {reference === null ? null : (
          <span className={description === null ? undefined : 'ml-2 text-muted'}>{reference}</span>
        )}
      </>
    ),
  },
  {
    header: 'Method',
    isExtra: true,
    cell: ({ paymentMethod: { type, lastFour } }) => (
      <span className="text-muted">
        {sentenceCase(type)}
        {lastFour === undefined ? '' : ` ···· ${lastFour}`}
      </span>
    ),
  },
  { header: 'Id', isExtra: true, cell: ({ id }) => <IdText id={id} isShort what="payment id" /> },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
