import { classes } from '../../parts/text.ts';

export const periods = [
  { days: '1', label: '1 day' },
  { days: '7', label: '7 days' },
  { days: '30', label: '30 days' },
] as const;

export interface PeriodSwitchProps {
  readonly days: string;
  readonly onChange: (days: string) => void;
}

export function PeriodSwitch({ days, onChange }: PeriodSwitchProps) {
  return (
    <fieldset className="flex rounded-md border border-line-strong/60 bg-surface p-0.5">
      <legend className="sr-only">Period</legend>
      {periods.map((period) => (
        <button
          key={period.days}
          type="button"
          aria-pressed={period.days === days}
          onClick={() => onChange(period.days)}
          className={classes(
            'h-7 rounded-sm px-2.5 text-sm font-medium',
            period.days === days ? 'bg-accent-soft text-accent' : 'text-muted hover:text-ink',
          )}
        >
          {period.label}
        </button>
      ))}
    </fieldset>
  );
}
