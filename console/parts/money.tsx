import { formatAmount, type Minor } from '../client/amount.ts';
import { classes } from './text.ts';

export interface MoneyProps {
  /** Integer minor units, as a number or a string. */
  readonly amount: Minor;
  readonly currency: string;
  /** Without the currency, if the column shows it. */
  readonly isBare?: boolean;
  readonly className?: string;
}

/** 125000 EUR -> '1,250.00 EUR', with tabular digits. */
export function Money({ amount, currency, isBare, className }: MoneyProps) {
  return (
    <span className={classes('whitespace-nowrap tabular-nums', className)}>
      {formatAmount(amount, currency)}
      {isBare ? null : <span className="font-normal text-muted"> {currency}</span>}
    </span>
  );
}
