import type { List } from './queries.ts';
import { get, type Path, type Query, type Scope } from './request.ts';

/** More rows than this do not help in a spreadsheet, and would keep the browser busy. */
export const rowsExportedMax = 10_000;
const rowsPerPage = 100;

export type ExportedRow = Readonly<Record<string, unknown>>;

/** All rows of a list with its filters, page by page, up to the maximum. */
export async function readAll<Row>(
  path: Path,
  filters: Query,
  scope: Scope,
  onProgress: (rows: number) => void,
): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean }> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: List<Row> = await get<List<Row>>(path, { ...filters, limit: rowsPerPage, cursor }, scope);
    rows.push(...page.data);
    cursor = page.hasMore ? page.nextCursor : null;
    onProgress(rows.length);
  } while (cursor !== null && rows.length < rowsExportedMax);
  return { rows, isCut: cursor !== null };
}

/** Rows as CSV with a column for every field that any row has. Nested fields get names such as `paymentMethod.type`. */
export function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => new Map(cellsOf(row as ExportedRow)));
  const columns = [...new Set(flat.flatMap((cells) => [...cells.keys()]))];
  const lines = flat.map((cells) => columns.map((column) => quoted(cells.get(column) ?? '')).join(','));
  return `${[columns.map(quoted).join(','), ...lines].join('\r\n')}\r\n`;
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
  if (typeof value === 'string') return isFormula(value) ? `'${value}` : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Spreadsheets run a text that starts like this as a formula. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
