import { type ReactNode, useId } from 'react';
import { FieldProblem } from '../parts/field.tsx';
import { Prose } from '../parts/prose.tsx';

export interface RadioCardsProps<Value extends string> {
  readonly legend: string;
  /** The part of the request body that they send, as in `FieldProps`. */
  readonly param: string | null;
  /** For screen readers only, below a heading that says the same. */
  readonly isLegendHidden?: boolean;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly label: ReactNode;
    readonly hint?: ReactNode;
    readonly isDisabled?: boolean;
  }[];
  readonly onChange: (value: Value) => void;
}

/** Radio buttons as cards with a hint each: a select would hide the hints until it is opened. */
export function RadioCards<Value extends string>(props: RadioCardsProps<Value>) {
  const { legend, param, isLegendHidden = false, value, options, onChange } = props;
  const name = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className={isLegendHidden ? 'sr-only' : 'mb-1 text-sm font-medium'}>{legend}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="flex items-start gap-2.5 rounded-md border px-3 py-2 has-checked:border-accent has-checked:bg-accent-soft/50 has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.isDisabled}
            aria-labelledby={`${name}-${option.value}`}
            aria-describedby={option.hint === undefined ? undefined : `${name}-${option.value}-hint`}
            onChange={() => onChange(option.value)}
            className="mt-1 size-3.5 shrink-0 accent-accent outline-none"
          />
          <span className="min-w-0">
            <span id={`${name}-${option.value}`} className="block font-medium">
              {option.label}
            </span>
            {option.hint === undefined ? null : (
              <span id={`${name}-${option.value}-hint`} className="block text-sm text-muted">
                <Prose text={option.hint} />
              </span>
            )}
          </span>
        </label>
      ))}
      {param === null ? null : <FieldProblem param={param} label={legend} />}
    </fieldset>
  );
}
