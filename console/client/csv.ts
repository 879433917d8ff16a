export type ExportedRow = Readonly<Record<string, unknown>>;

/** Rows as CSV with a column for every field that any row has. Nested fields get names such as `paymentMethod.type`. */
export function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => new Map(cellsOf(row as ExportedRow)));
  const columns = [...new Set(flat.flatMap((cells) => [...cells.keys()]))];
  const lines = flat.map((cells) => columns.map((column) => written(cells.get(column) ?? '')).join(','));
  return `${[columns.map(written).join(','), ...lines].join('\r\n')}\r\n`;
}

/** Fields of the envelope, which are the same in every row, and parts of secrets, which do not belong in a spreadsheet. */
const omitted = new Set(['object', 'sandbox', 'requestId', 'allowedActions', 'secretHint', 'lastFour']);

function cellsOf(row: ExportedRow, prefix = ''): readonly (readonly [string, string])[] {
  return Object.entries(row).flatMap(([name, value]) => {
    if (prefix === '' && omitted.has(name)) return [];
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return cellsOf(value as ExportedRow, `${prefix}${name}.`);
    return [[`${prefix}${name}`, cellText(value)] as const];
  });
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Spreadsheets run a text that starts like this as a formula: also with a full-width sign, which Excel converts in East Asian versions, and
 * after a tab or a line break, which some of them skip.
 */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text);
}

/** A name or a value. A number stays a number. */
function written(text: string): string {
  const harmless = isFormula(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
