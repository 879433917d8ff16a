import { useRead } from '../../client/queries.ts';
import type { Selection } from '../../client/selection.ts';
import type { NextActions, Payment } from '../../generated/shapes.ts';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { paymentBulkActions } from './bulk-actions.ts';

export interface PaymentBulkBarProps {
  readonly selection: Selection<Payment>;
  /** The payments on the page. */
  readonly shown: readonly Payment[];
}

/** Reads the next actions of the whole page ahead, so that the first selected payment already has its actions. */
export function PaymentBulkBar({ selection, shown }: PaymentBulkBarProps) {
  const ids = [...new Set([...shown, ...selection.rows].map(({ id }) => id))].sort().join(',');
  const { data } = useRead<NextActions>(
    'app/next_actions',
    { ids },
    { isEnabled: ids !== '', keepPreviousData: true },
  );
  return <BulkBar selection={selection} noun="payment" actions={paymentBulkActions(data?.payments ?? [])} />;
}
