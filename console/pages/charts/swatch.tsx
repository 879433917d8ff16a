import type { Series } from './point.ts';

/** The color and mark of a series, for legends and tooltips. */
export function Swatch({ series }: { readonly series: Series }) {
  return (
    <svg aria-hidden="true" width="14" height="10" className="shrink-0">
      {series.mark === 'bar' ? (
        <rect x="2" width="10" height="10" rx="2" fill={series.color} />
      ) : (
        <line
          y1="5"
          y2="5"
          x2="14"
          stroke={series.color}
          strokeWidth="2.5"
          strokeDasharray={series.isDashed ? '5 4' : undefined}
        />
      )}
    </svg>
  );
}
