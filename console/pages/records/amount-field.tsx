import { formatMinor, parseMajor } from '../../client/amount.ts';
import { useExponent } from '../../client/currencies.ts';
import type { ApiProblem } from '../../client/request.ts';
import { Field, Input } from '../../parts/field.tsx';

export interface AmountFieldProps {
  readonly label?: string;
  readonly currency: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** Minor units: what can be asked for at most, said below. */
  readonly most?: number;
  readonly isOptional?: boolean;
  readonly problem?: ApiProblem | null;
  readonly param?: string;
  readonly hint?: string;
  readonly className?: string;
}

/** An amount as people write it, 12.50; text all the way, never a float. */
export function AmountField(props: AmountFieldProps) {
  const { label = 'Amount', currency, text, onChange, most, isOptional, problem, param = 'amount' } = props;
  const exponent = useExponent(currency);
  const minor = parseMajor(text, exponent);
  const error = text.trim() === '' || (minor !== undefined && minor > 0) ? undefined : refusalWords(exponent);
  const mostWords =
    most === undefined ? undefined : `At most ${formatMinor(most, exponent)} ${currency}, taken when empty.`;
  const hint = props.hint ?? mostWords;
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

function refusalWords(exponent: number): string {
  if (exponent === 0) return 'A whole number above zero.';
  return `A number above zero with up to ${exponent} digits after the point.`;
}
