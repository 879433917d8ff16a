import { Bar, BarChart, LabelList, Rectangle, ResponsiveContainer, XAxis, YAxis } from 'recharts';

export interface ShareRow {
  readonly name: string;
  readonly count: number;
  readonly label: string;
  readonly color: string;
}

const rowPx = 28;

/** Counts by category, one bar each, most frequent first. */
export default function CategoryBars({ rows }: { readonly rows: readonly ShareRow[] }) {
  return (
    <ResponsiveContainer width="100%" height={rows.length * rowPx + 8}>
      <BarChart
        data={[...rows]}
        layout="vertical"
        accessibilityLayer={false}
        margin={{ top: 0, right: 56, bottom: 0, left: 0 }}
      >
        <XAxis type="number" hide domain={[0, 'dataMax']} />
        <YAxis
          type="category"
          dataKey="name"
          width={112}
          interval={0}
          tickLine={false}
          axisLine={false}
          tick={{ fill: 'var(--muted)', fontSize: 12 }}
        />
        <Bar
          dataKey="count"
          barSize={14}
          isAnimationActive={false}
          minPointSize={2}
          shape={(bar) => <Rectangle {...bar} radius={3} fill={(bar.payload as ShareRow).color} />}
        >
          <LabelList dataKey="label" position="right" fill="var(--ink)" fontSize={12} />
        </Bar>
      </BarChart>
    </ResponsiveContainer>
  );
}
