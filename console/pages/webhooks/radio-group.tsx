import { type ReactNode, useId } from 'react';
import { classes } from '../../parts/text.ts';

export interface RadioGroupProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly {
    readonly value: Value;
    readonly label: ReactNode;
    readonly hint?: ReactNode;
  }[];
}

/** A radio group with a hint for each option. */
export function RadioGroup<Value extends string>({
  legend,
  value,
  onChange,
  options,
}: RadioGroupProps<Value>) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      <div className="divide-y rounded-md border">
        {options.map((option) => {
          const id = `${name}-${option.value}`;
          const isChosen = option.value === value;
          return (
            <div
              key={option.value}
              className={classes('flex items-start gap-2.5 px-3 py-2', isChosen && 'bg-accent-soft')}
            >
              <input
                type="radio"
                id={id}
                name={name}
                checked={isChosen}
                onChange={() => onChange(option.value)}
                aria-describedby={option.hint === undefined ? undefined : `${id}-hint`}
                className="mt-[3px] size-4 shrink-0 accent-accent"
              />
              <div className="min-w-0 flex-1">
                <label htmlFor={id} className="block">
                  {option.label}
                </label>
                {option.hint === undefined ? null : (
                  <p id={`${id}-hint`} className="text-sm text-muted">
                    {option.hint}
                  </p>
                )}
              </div>
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}
