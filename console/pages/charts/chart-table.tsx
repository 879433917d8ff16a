import { classes } from '../../parts/text.ts';

export interface ChartTableProps {
  readonly caption: string;
  readonly head: readonly string[];
  /** The first cell of a row is its header. */
  readonly rows: readonly (readonly string[])[];
}

/** A chart's data as a table. */
export function ChartTable({ caption, head, rows }: ChartTableProps) {
  return (
    <section
      aria-label={`${caption}, as a table`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className="max-h-60 overflow-auto rounded-md border"
    >
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 bg-surface">
          <tr>
            {head.map((label, index) => (
              <th
                key={label}
                scope="col"
                className={classes('border-b px-3 py-1.5 font-medium text-faint', sideOf(index))}
              >
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr key={name} className="border-b last:border-b-0">
              <th scope="row" className="px-3 py-1 text-left font-normal whitespace-nowrap">
                {name}
              </th>
              {values.map((value, index) => (
                <td key={head[index + 1]} className="px-3 py-1 text-right whitespace-nowrap tabular-nums">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function sideOf(index: number): string {
  return index === 0 ? 'text-left' : 'text-right';
}
