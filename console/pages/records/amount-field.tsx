import { formatMinor, parseMajor } from '../../client/amount.ts';
import { useExponent } from '../../client/currencies.ts';
import type { ApiProblem } from '../../client/request.ts';
import { Field, Input } from '../../parts/field.tsx';

export interface AmountFieldProps {
  readonly label?: string;
  readonly currency: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** The maximum in minor units, shown in the hint. */
  readonly maximum?: number;
  readonly isOptional?: boolean;
  readonly problem?: ApiProblem | null;
  readonly param?: string;
  readonly hint?: string;
  readonly className?: string;
}

/** An amount as people write it, such as 12.50; parsed as text, never as a float. */
export function AmountField(props: AmountFieldProps) {
  const {
    label = 'Amount',
    currency,
    text,
    onChange,
    maximum,
    isOptional,
    problem,
    param = 'amount',
  } = props;
  const exponent = useExponent(currency);
  const minor = parseMajor(text, exponent);
  const error = text.trim() === '' || (minor !== undefined && minor > 0) ? undefined : amountError(exponent);
  const maximumHint =
    maximum === undefined
      ? undefined
      : `At most ${formatMinor(maximum, exponent)} ${currency}. Leave empty for the full amount.`;
  const hint = props.hint ?? maximumHint;
  return (
    <Field
      label={`${label} in ${currency}`}
      isOptional={isOptional ?? false}
      error={error}
      problem={problem ?? null}
      param={param}
      {...(hint === undefined ? {} : { hint })}
      {...(props.className === undefined ? {} : { className: props.className })}
    >
      <Input
        inputMode={exponent === 0 ? 'numeric' : 'decimal'}
        autoComplete="off"
        placeholder={formatMinor('0', exponent)}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        className="tabular-nums"
      />
    </Field>
  );
}

function amountError(exponent: number): string {
  if (exponent === 0) return 'Enter a whole number above zero.';
  return `Enter a number above zero with up to ${exponent} decimals.`;
}
