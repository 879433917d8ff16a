import { useId } from 'react';

/** A date without a time, as the API expects it. */
export function DayFilter({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (day: string) => void;
}) {
  const id = useId();
  return (
    <div className="flex flex-col gap-0.5 max-sm:flex-1 max-sm:basis-36">
      <label htmlFor={id} className="text-xs font-medium text-muted">
        Day
      </label>
      <input
        id={id}
        type="date"
        className="control"
        value={value ?? ''}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}
