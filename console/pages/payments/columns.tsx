import type { Payment } from '../../client/shapes.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';

/** Also used for a customer's payments. */
export const paymentColumns: readonly Column<Payment>[] = [
  {
    header: 'Amount',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Description',
    isWide: true,
    isMinor: true,
    cell: ({ description, reference }) =>
      description === null && reference === null ? (
        <span className="text-faint">No description</span>
      ) : (
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
    isMinor: true,
    cell: ({ paymentMethod: { type, lastFour } }) => (
      <span className="text-muted">
        {sentenceCase(type)}
        {lastFour === undefined ? '' : ` ···· ${lastFour}`}
      </span>
    ),
  },
  {
    header: 'Id',
    isMinor: true,
    cell: ({ id }) => <span className="font-mono text-[0.75rem] text-muted">{id}</span>,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
