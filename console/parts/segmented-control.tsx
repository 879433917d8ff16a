import { classes } from './text.ts';

export interface SegmentedControlProps<Value extends string> {
  /** For screen readers. */
  readonly legend: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
  readonly isDisabled?: boolean;
}

/** One of a few values, all of them visible. */
export function SegmentedControl<Value extends string>(props: SegmentedControlProps<Value>) {
  const { legend, value, options, onChange, isDisabled = false } = props;
  return (
    <fieldset className="flex min-w-0 flex-wrap rounded-md border border-line-strong/60 bg-surface p-0.5">
      <legend className="sr-only">{legend}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          aria-disabled={isDisabled || undefined}
          onClick={() => (isDisabled || option.value === value ? undefined : onChange(option.value))}
          className={classes(
            'h-7 rounded-sm px-2.5 text-sm font-medium whitespace-nowrap',
            option.value === value ? 'bg-accent-soft text-accent' : 'text-muted hover:text-ink',
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
