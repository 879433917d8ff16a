import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { Button } from './button.tsx';
import { instantOfDay } from './day.ts';
import { Select, type SelectProps } from './field.tsx';
import { classes } from './text.ts';

export interface FilterBarProps {
  readonly children: ReactNode;
  /** Set if a filter is active: shows 'Clear'. */
  readonly onClear?: (() => void) | undefined;
  /** On the right, such as an export or refresh button. */
  readonly actions?: ReactNode;
}

/** Above a table. Its children are FilterSelect, FilterText and FilterDate, whose values live in the URL. */
export function FilterBar({ children, onClear, actions }: FilterBarProps) {
  return (
    <search aria-label="Filters" className="mb-4 flex flex-wrap items-end gap-2">
      {children}
      {onClear ? (
        <Button variant="ghost" onClick={onClear}>
          Clear
        </Button>
      ) : null}
      {actions === undefined ? null : <div className="ml-auto flex gap-2">{actions}</div>}
    </search>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

export function FilterSelect({
  label,
  value,
  onChange,
  options,
  empty = 'Any',
}: FilterProps & Pick<SelectProps, 'options' | 'empty'>) {
  const id = useId();
  return (
    <div className="flex flex-col gap-0.5 max-sm:flex-1 max-sm:basis-36">
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {label}
      </label>
      <Select
        id={id}
        value={value ?? ''}
        options={options}
        empty={empty}
        className="min-w-36"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

/** Applies on Enter and on blur, so that not every keystroke sends a request. */
export function FilterText({
  label,
  value,
  onChange,
  placeholder,
  className,
}: FilterProps & { readonly placeholder?: string; readonly className?: string }) {
  const id = useId();
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const apply = () => {
    if (text.trim() !== (value ?? '')) onChange(text.trim());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  return (
    <form
      onSubmit={submit}
      className={classes('flex flex-col gap-0.5 max-sm:flex-1 max-sm:basis-36', className)}
    >
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {label}
      </label>
      <input
        id={id}
        className="control min-w-36"
        value={text}
        placeholder={placeholder}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={apply}
      />
    </form>
  );
}

/** A UTC date; the filter value is its first instant, or its last with `isEnd`. */
export function FilterDate({
  label,
  value,
  onChange,
  isEnd = false,
}: FilterProps & { readonly isEnd?: boolean }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-0.5 max-sm:flex-1 max-sm:basis-36">
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {label}
      </label>
      <input
        id={id}
        type="date"
        className="control"
        value={(value ?? '').slice(0, 10)}
        onChange={(event) => onChange(instantOfDay(event.currentTarget.value, isEnd ? 'end' : 'start'))}
      />
    </div>
  );
}
