import type { List } from './queries.ts';
import { get, type Path, type Query, type Scope } from './request.ts';

/** More rows than this do not help in a spreadsheet, and would keep the browser busy. */
export const rowsExportedMax = 10_000;
const rowsPerPage = 100;

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
