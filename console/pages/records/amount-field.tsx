import { amountText, exponentOf, formatAmount, parseAmount } from '../../client/amount.ts';
import { Field, Input } from '../../parts/field.tsx';

export interface AmountFieldProps {
  readonly label?: string;
  readonly currency: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** The maximum in minor units, shown in the hint. */
  readonly maximum?: number;
  readonly isOptional?: boolean;
  readonly param?: string;
  readonly hint?: string;
  readonly className?: string;
}

/** An amount as people write it, such as 12.50 or 12,50. What it was understood as is shown below. */
export function AmountField(props: AmountFieldProps) {
  const { label = 'Amount', currency, text, onChange, maximum, isOptional, param = 'amount' } = props;
  const { error, meaning } = readAmount(text, currency, maximum);
  const maximumHint =
    maximum === undefined ? undefined : `Leave empty for the full ${amountText(maximum, currency)}.`;
  const hint = meaning ?? props.hint ?? maximumHint;
  return (
    <Field
      label={`${label} in ${currency}`}
      isOptional={isOptional ?? false}
      error={error}
      missing={error ?? (text.trim() === '' && !isOptional ? 'Enter an amount.' : undefined)}
      param={param}
      {...(hint === undefined ? {} : { hint })}
      {...(props.className === undefined ? {} : { className: props.className })}
    >
      <Input
        inputMode={exponentOf(currency) === 0 ? 'numeric' : 'decimal'}
        autoComplete="off"
        placeholder={formatAmount(0, currency)}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        className="tabular-nums"
      />
    </Field>
  );
}

/** What the text means as an amount, so that nobody has to guess how a comma was read, or why it is not an amount. */
function readAmount(
  text: string,
  currency: string,
  maximum?: number,
): { readonly error?: string; readonly meaning?: string } {
  if (text.trim() === '') return {};
  const parsed = parseAmount(text, currency);
  if ('problem' in parsed) return { error: parsed.problem };
  if (parsed.minor === 0) return { error: 'Enter an amount above zero.' };
  if (maximum !== undefined && parsed.minor > maximum)
    return { error: `${amountText(parsed.minor, currency)} exceeds ${amountText(maximum, currency)}.` };
  return { meaning: `= ${amountText(parsed.minor, currency)}` };
}
