import { Progress as RadixProgress } from 'radix-ui';

export interface ProgressProps {
  readonly label: string;
  /** 0..max; null if the duration is unknown. */
  readonly value: number | null;
  readonly max?: number;
}

export function Progress({ label, value, max = 100 }: ProgressProps) {
  const share = value === null || max === 0 ? null : Math.min(100, (value / max) * 100);
  return (
    <RadixProgress.Root
      value={value}
      max={Math.max(1, max)}
      aria-label={label}
      className="h-1.5 overflow-hidden rounded-full bg-quiet-soft"
    >
      {share === null ? (
        <div className="sweep h-full w-1/3 rounded-full bg-accent" />
      ) : (
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${share}%` }} />
      )}
    </RadixProgress.Root>
  );
}
