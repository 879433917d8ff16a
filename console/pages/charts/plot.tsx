import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ResponsiveContainer,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis,
} from 'recharts';
import { PlotTooltip } from './plot-tooltip.tsx';
import { formatCompact, type Point, type Series } from './point.ts';

export interface PlotProps {
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** Formats the ticks of the left axis. */
  readonly formatTick?: ((value: number) => string) | undefined;
}

const tick = { fill: 'var(--faint)', fontSize: 11 };

/**
 * Bars and lines over time. No animations: the data is polled, and an animation on every poll would distract.
 * Hidden from screen readers, which get the table instead.
 */
export default function Plot({ points, series, formatTick = formatCompact }: PlotProps) {
  const percentMax = percentAxisMax(points, series);
  return (
    <ResponsiveContainer width="100%" height="100%">
      <ComposedChart
        data={[...points]}
        accessibilityLayer={false}
        margin={{ top: 8, right: percentMax === null ? 8 : 0, bottom: 0, left: 0 }}
        barCategoryGap="20%"
      >
        <CartesianGrid yAxisId="left" vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="title"
          ticks={points.filter(({ name }) => name !== '').map(({ title }) => title)}
          tickFormatter={(title: string) => points.find((point) => point.title === title)?.name ?? ''}
          height={22}
          tick={tick}
          tickLine={false}
          axisLine={{ stroke: 'var(--line)' }}
          minTickGap={28}
          interval="preserveStartEnd"
        />
        <YAxis
          yAxisId="left"
          tick={tick}
          tickLine={false}
          axisLine={false}
          width={44}
          tickFormatter={formatTick}
          allowDecimals={false}
        />
        {percentMax === null ? null : <PercentAxis max={percentMax} />}
        <Tooltip
          isAnimationActive={false}
          cursor={{ fill: 'var(--quiet-soft)', stroke: 'var(--line)' }}
          content={({ active, payload }: TooltipContentProps) => (
            <PlotTooltip
              point={active ? (payload[0]?.payload as Point | undefined) : undefined}
              series={series}
            />
          )}
        />
        {series
          .filter(({ isShare }) => isShare)
          .map((one) => (
            <LineOutline key={`outline of ${one.key}`} series={one} />
          ))}
        {series.map((one) =>
          one.mark === 'bar' ? (
            <SeriesBar key={one.key} series={one} />
          ) : (
            <SeriesLine key={one.key} series={one} />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

function PercentAxis({ max }: { readonly max: number }) {
  return (
    <YAxis
      yAxisId="right"
      orientation="right"
      tick={tick}
      tickLine={false}
      axisLine={false}
      width={40}
      domain={[0, max]}
      ticks={[0, max / 2, max]}
      tickFormatter={(value: number) => `${value}%`}
    />
  );
}

interface SeriesProps {
  readonly series: Series;
}

const seriesValue =
  ({ key }: Series) =>
  (point: Point) =>
    point.values[key] ?? null;

/** A line over bars needs an outline to be visible on them. */
function LineOutline({ series }: SeriesProps) {
  return (
    <Line
      yAxisId="right"
      dataKey={seriesValue(series)}
      stroke="var(--surface)"
      strokeWidth={6}
      type="linear"
      dot={{ r: 4, fill: 'var(--surface)', strokeWidth: 0 }}
      activeDot={false}
      isAnimationActive={false}
    />
  );
}

function SeriesBar({ series }: SeriesProps) {
  return (
    <Bar
      yAxisId="left"
      dataKey={seriesValue(series)}
      fill={series.color}
      maxBarSize={32}
      isAnimationActive={false}
      {...(series.stack === undefined ? {} : { stackId: series.stack })}
    />
  );
}

function SeriesLine({ series }: SeriesProps) {
  return (
    <Line
      yAxisId={series.isShare ? 'right' : 'left'}
      dataKey={seriesValue(series)}
      stroke={series.color}
      strokeWidth={2}
      type="linear"
      // A value between two gaps would be invisible without a dot.
      dot={{ r: 2, fill: series.color, strokeWidth: 0 }}
      activeDot={{ r: 4, strokeWidth: 0, fill: series.color }}
      isAnimationActive={false}
      {...(series.isDashed ? { strokeDasharray: '5 4' } : {})}
    />
  );
}

const percentAxisEnds = [10, 20, 50, 100];

/** The upper end of the percentage axis: the smallest of the fixed values that fits; null without percentages. */
function percentAxisMax(points: readonly Point[], series: readonly Series[]): number | null {
  const shares = series.filter(({ isShare }) => isShare);
  if (shares.length === 0) return null;
  const largest = Math.max(0, ...points.flatMap(({ values }) => shares.map(({ key }) => values[key] ?? 0)));
  return percentAxisEnds.find((end) => end >= largest) ?? 100;
}
