import { Plus, X } from 'lucide-react';
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { formatDay } from '../client/now.ts';
import { Button } from './button.tsx';
import { dayOfInstant, instantOfDay } from './day.ts';
import { Popover } from './popover.tsx';
import { classes } from './text.ts';

export interface FilterBarProps {
  readonly children: ReactNode;
  /** Set if a filter is active: shows 'Clear filters'. */
  readonly onClear?: (() => void) | undefined;
  /** On the right, such as an export button. */
  readonly actions?: ReactNode;
}

/** Above a table. Its children are a search box and filter chips, whose values live in the URL. */
export function FilterBar({ children, onClear, actions }: FilterBarProps) {
  return (
    <search aria-label="Filters" className="mb-3 flex flex-wrap items-center gap-2">
      {children}
      {onClear ? (
        <Button variant="ghost" size="small" onClick={onClear}>
          Clear filters
        </Button>
      ) : null}
      {actions === undefined ? null : <div className="ml-auto flex items-center gap-2">{actions}</div>}
    </search>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

interface ChipProps {
  readonly label: string;
  /** What it filters by now; undefined if it does not. */
  readonly shown: string | undefined;
  readonly onClear: () => void;
  readonly children: (close: () => void) => ReactNode;
}

/** '+ Status', or 'Status: Failed' with a button that removes the filter. */
export function Chip({ label, shown, onClear, children }: ChipProps) {
  const [isOpen, setOpen] = useState(false);
  const isSet = shown !== undefined;
  return (
    <span
      className={classes(
        'inline-flex h-7 max-w-72 items-center rounded-full border text-sm',
        isSet ? 'border-accent bg-accent-soft text-accent' : 'border-dashed border-line-strong text-muted',
      )}
    >
      <Popover
        label={label}
        align="start"
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={
          <button
            type="button"
            className="flex h-full min-w-0 items-center gap-1 rounded-full px-2.5 hover:text-ink"
          >
            {isSet ? null : <Plus aria-hidden size={13} />}
            <span className="shrink-0">
              {label}
              {isSet ? ':' : ''}
            </span>
            {isSet ? <span className="truncate font-medium">{shown}</span> : null}
          </button>
        }
      >
        {children(() => setOpen(false))}
      </Popover>
      {isSet ? (
        <button
          type="button"
          aria-label={`Remove filter ${label}`}
          onClick={onClear}
          className="flex h-full items-center rounded-full pr-2 hover:text-ink"
        >
          <X aria-hidden size={13} />
        </button>
      ) : null}
    </span>
  );
}

type Option = string | { readonly value: string; readonly label: string };

const labelledOption = (option: Option) =>
  typeof option === 'string' ? { value: option, label: option } : option;
const optionsWithoutSearchMax = 10;

export function FilterSelect({
  label,
  value,
  onChange,
  options,
}: FilterProps & { readonly options: readonly Option[] }) {
  const [text, setText] = useState('');
  const all = options.map(labelledOption);
  const found = all.filter((option) => option.label.toLowerCase().includes(text.trim().toLowerCase()));
  const shown = value === undefined ? undefined : (all.find((one) => one.value === value)?.label ?? value);
  return (
    <Chip label={label} shown={shown} onClear={() => onChange('')}>
      {(close) => (
        <div className="-m-2 flex flex-col gap-1">
          {all.length > optionsWithoutSearchMax ? (
            <input
              aria-label={`Find ${label}`}
              placeholder="Find…"
              className="control mb-1"
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          ) : null}
          <ul aria-label={label} className="flex max-h-72 flex-col overflow-y-auto">
            {found.map((option) => (
              <li key={option.value}>
                <button
                  type="button"
                  aria-pressed={option.value === value}
                  onClick={() => {
                    onChange(option.value);
                    setText('');
                    close();
                  }}
                  className="flex min-h-8 w-full items-center rounded-sm px-2 text-left hover:bg-hover aria-pressed:font-medium aria-pressed:text-accent"
                >
                  {option.label}
                </button>
              </li>
            ))}
          </ul>
          {found.length === 0 ? <p className="px-2 text-muted">No match.</p> : null}
        </div>
      )}
    </Chip>
  );
}

/** Applies on Enter or with the button, so that not every keystroke sends a request. */
export function FilterText({
  label,
  value,
  onChange,
  placeholder,
}: FilterProps & { readonly placeholder?: string }) {
  const id = useId();
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  return (
    <Chip label={label} shown={value} onClear={() => onChange('')}>
      {(close) => (
        <form
          className="flex flex-col gap-2"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            onChange(text.trim());
            close();
          }}
        >
          <label htmlFor={id} className="text-sm font-medium">
            {label}
          </label>
          <div className="flex gap-2">
            <input
              id={id}
              className="control"
              value={text}
              placeholder={placeholder}
              autoComplete="off"
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" variant="primary">
              Apply
            </Button>
          </div>
        </form>
      )}
    </Chip>
  );
}

/** One day, as the API expects it: a date without a time. */
export function FilterDay({ label, value, onChange }: FilterProps) {
  const id = useId();
  return (
    <Chip label={label} shown={value} onClear={() => onChange('')}>
      {() => (
        <div className="flex flex-col gap-2">
          <label htmlFor={id} className="text-sm font-medium">
            {label}
          </label>
          <input
            id={id}
            type="date"
            className="control"
            value={value ?? ''}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        </div>
      )}
    </Chip>
  );
}

export interface FilterDatesProps {
  readonly label: string;
  /** The first and the last instant. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly onChange: (range: { readonly from: string; readonly to: string }) => void;
  /** Now, on the clock by which the rows are dated. */
  readonly now: number;
}

const presets = [
  { label: 'Last hour', ms: 3_600_000 },
  { label: 'Last 24 hours', ms: 86_400_000 },
  { label: 'Last 7 days', ms: 604_800_000 },
];

/** A range of days, or one of the presets. Days are those of the time zone that the console shows. */
export function FilterDates({ label, from, to, onChange, now }: FilterDatesProps) {
  const id = useId();
  const isSet = from !== undefined || to !== undefined;
  const shown = isSet ? `${dayText(from) ?? '…'} – ${dayText(to) ?? 'now'}` : undefined;
  return (
    <Chip label={label} shown={shown} onClear={() => onChange({ from: '', to: '' })}>
      {(close) => (
        <div className="flex flex-col gap-3">
          <div className="flex flex-wrap gap-2">
            {presets.map((preset) => (
              <Button
                key={preset.label}
                size="small"
                onClick={() => {
                  onChange({ from: new Date(now - preset.ms).toISOString(), to: '' });
                  close();
                }}
              >
                {preset.label}
              </Button>
            ))}
          </div>
          <div className="grid grid-cols-2 gap-2">
            {(['from', 'to'] as const).map((edge) => (
              <div key={edge} className="flex flex-col gap-0.5">
                <label htmlFor={`${id}-${edge}`} className="text-sm font-medium">
                  {edge === 'from' ? 'From' : 'To'}
                </label>
                <input
                  id={`${id}-${edge}`}
                  type="date"
                  className="control"
                  value={dayOfInstant(edge === 'from' ? from : to)}
                  onChange={({ currentTarget: { value } }) => {
                    const instant = instantOfDay(value, edge === 'from' ? 'start' : 'end');
                    onChange({ from: from ?? '', to: to ?? '', [edge]: instant });
                  }}
                />
              </div>
            ))}
          </div>
        </div>
      )}
    </Chip>
  );
}

function dayText(instant: string | undefined): string | undefined {
  return instant === undefined ? undefined : formatDay(Date.parse(instant));
}
