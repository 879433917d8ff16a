export interface SparklineProps {
  /** Null where nothing was measured. */
  readonly values: readonly (number | null)[];
  /** The value of a full bar; the largest value by default. */
  readonly max?: number;
  /** A CSS variable such as `var(--accent)`. */
  readonly color: string;
}

const height = 24;
const gap = 0.3;
// A bar of a small value stays visible.
const barMin = 1.5;

/** Bars without axes, beside a number: only their shape is of interest. Hidden from screen readers. */
export function Sparkline({ values, max, color }: SparklineProps) {
  const top = max ?? Math.max(0, ...values.map((value) => value ?? 0));
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${Math.max(1, values.length)} ${height}`}
      preserveAspectRatio="none"
      className="block h-6 w-full border-b border-line"
    >
      {values.map((value, index) => {
        if (value === null || value <= 0 || top <= 0) return null;
        const bar = Math.max(barMin, Math.min(1, value / top) * height);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar has no other identity than its position
            key={index}
            x={index + gap / 2}
            y={height - bar}
            width={1 - gap}
            height={bar}
            fill={color}
          />
        );
      })}
    </svg>
  );
}
