import type { Point, Series } from './point.ts';
import { Swatch } from './swatch.tsx';

/** Tooltip for the point under the pointer. */
export function PlotTooltip({
  point,
  series,
}: {
  readonly point: Point | undefined;
  readonly series: readonly Series[];
}) {
  if (point === undefined) return null;
  return (
    <div className="rounded-md border bg-raised px-3 py-2 text-xs shadow-pop">
      <p className="mb-1 font-medium whitespace-nowrap">{point.title}</p>
      {series.map((one) => (
        <p key={one.key} className="flex items-center gap-2 whitespace-nowrap">
          <Swatch series={one} />
          <span className="text-muted">{one.label}</span>
          <span className="ml-auto pl-3 tabular-nums">{point.labels[one.key] ?? '—'}</span>
        </p>
      ))}
    </div>
  );
}
