import { useId } from 'react';

export interface RadioCardsProps {
  /** For screen readers. */
  readonly legend: string;
  readonly value: string;
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly hint: string;
    readonly isDisabled?: boolean;
  }[];
  readonly onChange: (value: string) => void;
}

/** Radio buttons as cards with a hint each: a select would hide the hints until it is opened. */
export function RadioCards({ legend, value, options, onChange }: RadioCardsProps) {
  const name = useId();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="sr-only">{legend}</legend>
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
            aria-describedby={`${name}-${option.value}-hint`}
            onChange={() => onChange(option.value)}
            className="mt-1 size-3.5 shrink-0 accent-accent outline-none"
          />
          <span className="min-w-0">
            <span id={`${name}-${option.value}`} className="block font-medium">
              {option.label}
            </span>
            <span id={`${name}-${option.value}-hint`} className="block text-sm text-muted">
              {option.hint}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
