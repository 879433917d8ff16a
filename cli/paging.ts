import type { Pages } from '../sdk/pages.ts';
import type { Spec } from './declare.ts';
import { table } from './layout.ts';
import { type Output, paintStatus } from './output.ts';
import { whole } from './reading.ts';

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

const limitMax = 100;

/** The options of every list command. */
export const pageOptions: NonNullable<Spec<PageOptions>['options']> = [
  ['--limit <count>', `page size, 1 to ${limitMax} (20)`, whole(1, limitMax)],
  ['--cursor <cursor>', 'continue after the previous page'],
];

interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

const statusColumns = ['STATUS', 'OUTCOME'];

/** One page: the API response for machines, a table for people. */
export async function showPage<Item>(
  out: Output,
  pages: PromiseLike<ListAnswer<Item>> | Pages<ListAnswer<Item>>,
  head: readonly string[],
  row: (item: Item) => readonly string[],
): Promise<void> {
  const page = await pages;
  const painted = (item: Item) =>
    row(item).map((cell, column) =>
      statusColumns.includes(head[column] ?? '') ? paintStatus(out.paint, cell) : cell,
    );
  out.show(page, () => (page.data.length === 0 ? 'No results.' : table(head, page.data.map(painted))));
  if (page.hasMore && !out.isJson)
    out.say(out.paintAside.dim(`More results: add --cursor ${page.nextCursor}`));
}

/** Without the fields that are undefined: the API rejects them. */
export function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
