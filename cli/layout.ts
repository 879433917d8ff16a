const gap = '  ';
const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

/** Aligned columns without borders, so that other tools can parse them. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  return all
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column] ?? 0))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** Names with their values, one per line. Fields without a value are omitted. */
export function fields(
  pairs: readonly (readonly [name: string, value: string | number | null | undefined])[],
): string {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}${gap}${value}`).join('\n');
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

/** The visible length, without colour codes. */
function widthOf(cell: string): number {
  return cell.replace(escapes, '').length;
}

/** The actions that a record allows now. */
export function actionsText(actions: readonly string[]): string {
  return actions.join(', ') || 'none: it is final';
}
