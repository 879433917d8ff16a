/** One position on the horizontal axis. `values` are plotted; `labels` are the exact values as text. */
export interface Point {
  /** Axis label; empty for no tick. */
  readonly name: string;
  /** Full label, for the tooltip and the table. */
  readonly title: string;
  readonly values: Readonly<Record<string, number | null>>;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Series {
  readonly key: string;
  readonly label: string;
  readonly mark: 'bar' | 'line';
  /** A CSS variable such as `var(--accent)`, so that it follows the theme. */
  readonly color: string;
  /** Distinguishes lines by more than their color. */
  readonly isDashed?: boolean;
  /** Bars with the same stack name are stacked. */
  readonly stack?: string;
  /** In percent, on the right axis. */
  readonly isShare?: boolean;
}

export const colors = {
  accent: 'var(--accent)',
  good: 'var(--good)',
  bad: 'var(--bad)',
  warn: 'var(--warn)',
  note: 'var(--note)',
  quiet: 'var(--line-strong)',
} as const;

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 12500 -> '12.5K', for axis ticks. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** Only exactly none and exactly all show as 0% and 100%; other shares are never rounded to either. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '—';
  if (part === 0) return '0%';
  if (part === whole) return '100%';
  return `${Math.min(99.9, Math.max(0.1, (part / whole) * 100)).toFixed(1)}%`;
}
