import { Money } from '../../parts/money.tsx';
import { TimeOnPhones } from '../../parts/time.tsx';

export interface AmountCellProps {
  readonly amount: number;
  readonly currency: string;
  /** For screen readers, since many rows have the same amount. */
  readonly id: string;
  readonly at: string;
}

/** The first cell of a row. On phones, where the last column is hidden, it includes the time. */
export function AmountCell({ amount, currency, id, at }: AmountCellProps) {
  return (
    <>
      <Money amount={amount} currency={currency} />
      <span className="sr-only">, {id}</span>
      <TimeOnPhones at={at} />
    </>
  );
}
