/** One place on the horizontal axis. Plotted are `values`; what a person reads are `words`, which are exact. */
export interface Point {
  /** At the axis; empty where no mark shall be. */
  readonly name: string;
  /** In full, for the tooltip and the table. */
  readonly title: string;
  readonly values: Readonly<Record<string, number | null>>;
  readonly words: Readonly<Record<string, string>>;
}

export interface Series {
  readonly key: string;
  readonly label: string;
  readonly mark: 'bar' | 'line';
  /** A token of the theme, as `var(--accent)`: it follows the theme by itself. */
  readonly color: string;
  /** Lines are told apart by their dashes too. */
  readonly isDashed?: boolean;
  /** Bars of one stack stand on each other. */
  readonly stack?: string;
  /** Measured in percent, at the right. */
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

/** 12500 -> '12.5K', for the marks of an axis. */
export function compactWords(value: number): string {
  return compact.format(value);
}

/** A share that is neither nothing nor all is never rounded to either. */
export function percentWords(part: number, whole: number): string {
  if (whole === 0) return '—';
  if (part === 0) return '0%';
  if (part === whole) return '100%';
  return `${Math.min(99.9, Math.max(0.1, (part / whole) * 100)).toFixed(1)}%`;
}
