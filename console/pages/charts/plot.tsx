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
import { compactWords, type Point, type Series } from './point.ts';
import { Reading } from './reading.tsx';

export interface PlotProps {
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** The marks of the left axis. */
  readonly tickWords?: ((value: number) => string) | undefined;
}

const tick = { fill: 'var(--faint)', fontSize: 11 };

/**
 * Bars and lines over time. Nothing moves by itself: data is asked for again and again, and each time would be a
 * distraction. It is hidden from screen readers, which are given the table beside it.
 */
export default function Plot({ points, series, tickWords = compactWords }: PlotProps) {
  const shareTop = topOf(points, series);
  return (
    <ResponsiveContainer width="100%" height="100%">
      <ComposedChart
        data={[...points]}
        accessibilityLayer={false}
        margin={{ top: 8, right: shareTop === null ? 8 : 0, bottom: 0, left: 0 }}
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
          tickFormatter={tickWords}
          allowDecimals={false}
        />
        {shareTop === null ? null : (
          <YAxis
            yAxisId="right"
            orientation="right"
            tick={tick}
            tickLine={false}
            axisLine={false}
            width={40}
            domain={[0, shareTop]}
            ticks={[0, shareTop / 2, shareTop]}
            tickFormatter={(value: number) => `${value}%`}
          />
        )}
        <Tooltip
          isAnimationActive={false}
          cursor={{ fill: 'var(--quiet-soft)', stroke: 'var(--line)' }}
          content={({ active, payload }: TooltipContentProps) => (
            <Reading
              point={active ? (payload[0]?.payload as Point | undefined) : undefined}
              series={series}
            />
          )}
        />
        {series
          .filter(({ isShare }) => isShare)
          .map((one) => (
            // A line over bars needs an edge of its own to be seen on them.
            <Line
              key={`edge of ${one.key}`}
              yAxisId="right"
              dataKey={(point: Point) => point.values[one.key] ?? null}
              stroke="var(--surface)"
              strokeWidth={6}
              type="linear"
              dot={{ r: 4, fill: 'var(--surface)', strokeWidth: 0 }}
              activeDot={false}
              isAnimationActive={false}
            />
          ))}
        {series.map((one) =>
          one.mark === 'bar' ? (
            <Bar
              key={one.key}
              yAxisId="left"
              dataKey={(point: Point) => point.values[one.key] ?? null}
              fill={one.color}
              maxBarSize={32}
              isAnimationActive={false}
              {...(one.stack === undefined ? {} : { stackId: one.stack })}
            />
          ) : (
            <Line
              key={one.key}
              yAxisId={one.isShare ? 'right' : 'left'}
              dataKey={(point: Point) => point.values[one.key] ?? null}
              stroke={one.color}
              strokeWidth={2}
              type="linear"
              // A value between two gaps would be invisible without its dot.
              dot={{ r: 2, fill: one.color, strokeWidth: 0 }}
              activeDot={{ r: 4, strokeWidth: 0, fill: one.color }}
              isAnimationActive={false}
              {...(one.isDashed ? { strokeDasharray: '5 4' } : {})}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

const shareTops = [10, 20, 50, 100];

/** The end of the axis of shares: the least round one that holds them all; null when there are none. */
function topOf(points: readonly Point[], series: readonly Series[]): number | null {
  const shares = series.filter(({ isShare }) => isShare);
  if (shares.length === 0) return null;
  const most = Math.max(0, ...points.flatMap(({ values }) => shares.map(({ key }) => values[key] ?? 0)));
  return shareTops.find((top) => top >= most) ?? 100;
}
