import { ChartColumn, Table2 } from 'lucide-react';
import { type ReactNode, Suspense, useState } from 'react';
import { IconButton } from '../../parts/button.tsx';
import { lazyPart } from '../../parts/lazy-part.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { classes } from '../../parts/text.ts';
import { ChartTable } from './chart-table.tsx';
import type { PlotProps } from './plot.tsx';
import { Swatch } from './swatch.tsx';

// Recharts is larger than the rest of the console: load it with the first chart.
const Plot = lazyPart(() => import('./plot.tsx'));

export interface ChartFrameProps {
  readonly title: string;
  /** The chart in one sentence, for screen readers and for a quick overview. */
  readonly summary: ReactNode;
  readonly controls?: ReactNode;
  readonly legend?: ReactNode;
  readonly chart: ReactNode;
  readonly table: ReactNode;
  readonly isEmpty?: boolean;
  /** Shown instead of the chart if there is no data. */
  readonly empty?: string;
  readonly className?: string;
}

/** A chart with a button that shows the same data as a table. */
export function ChartFrame(props: ChartFrameProps) {
  const { title, summary, controls, legend, chart, table, isEmpty = false, empty, className } = props;
  const [isTable, setTable] = useState(false);
  return (
    <section className={classes('min-w-0 rounded-lg border bg-surface p-5 pt-4', className)}>
      <div className="mb-4 flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{title}</h2>
          <p className="text-sm text-muted">{summary}</p>
        </div>
        <div className="flex shrink-0 items-center gap-1.5">
          {controls}
          {isEmpty ? null : (
            <IconButton
              label={isTable ? `Show ${title} as a chart` : `Show ${title} as a table`}
              icon={isTable ? <ChartColumn aria-hidden size={16} /> : <Table2 aria-hidden size={16} />}
              onClick={() => setTable(!isTable)}
            />
          )}
        </div>
      </div>
      {isEmpty ? (
        <p className="flex h-40 items-center justify-center px-4 text-center text-faint">{empty}</p>
      ) : isTable ? (
        table
      ) : (
        <>
          {legend}
          <div aria-hidden="true">
            <Suspense fallback={<Skeleton className="h-52 w-full" />}>{chart}</Suspense>
          </div>
        </>
      )}
    </section>
  );
}

export interface ChartCardProps extends PlotProps {
  readonly title: string;
  readonly summary: ReactNode;
  readonly controls?: ReactNode;
  /** Header of the table's first column. */
  readonly pointLabel?: string;
  readonly isEmpty?: boolean;
  readonly empty?: string;
  readonly className?: string;
}

/** A card with bars and lines over time. */
export function ChartCard({ points, series, formatTick, pointLabel = 'From', ...frame }: ChartCardProps) {
  return (
    <ChartFrame
      {...frame}
      legend={
        series.length > 1 ? (
          <ul aria-hidden="true" className="mb-2 flex flex-wrap gap-x-4 text-xs text-muted">
            {series.map((one) => (
              <li key={one.key} className="flex items-center gap-1.5">
                <Swatch series={one} />
                {one.label}
              </li>
            ))}
          </ul>
        ) : null
      }
      chart={
        <div className="h-52">
          <Plot points={points} series={series} formatTick={formatTick} />
        </div>
      }
      table={
        <ChartTable
          caption={frame.title}
          head={[pointLabel, ...series.map(({ label }) => label)]}
          rows={points.map((point) => [point.title, ...series.map(({ key }) => point.labels[key] ?? '—')])}
        />
      }
    />
  );
}
