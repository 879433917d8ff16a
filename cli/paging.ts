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

export interface SearchOptions extends PageOptions {
  readonly search?: string;
}

/** The options of lists that can be searched. */
export const searchOptions: NonNullable<Spec<SearchOptions>['options']> = [
  ['--search <text>', 'only records that contain this text'],
  ...pageOptions,
];

interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export const noResults = 'No results.';
const statusColumns = ['STATUS', 'OUTCOME'];

/** One page: the API response for machines, a table for people, with an optional summary of the whole list above it. */
export async function showPage<Item, Answer extends ListAnswer<Item>>(
  out: Output,
  pages: PromiseLike<Answer & ListAnswer<Item>>,
  head: readonly string[],
  row: (item: Item) => readonly string[],
  summary?: (page: Answer) => string,
): Promise<void> {
  const page = await pages;
  const painted = (item: Item) =>
    row(item).map((cell, column) =>
      statusColumns.includes(head[column] ?? '') ? paintStatus(out.paint, cell) : cell,
    );
  out.show(page, () => {
    const lines = page.data.length === 0 ? noResults : table(head, page.data.map(painted));
    return summary === undefined ? lines : `${summary(page)}\n\n${lines}`;
  });
  if (page.hasMore && !out.isJson)
    out.say(out.paintAside.dim(`More results: add --cursor ${page.nextCursor}`));
}

/** Removes undefined fields, which the API rejects. */
export function withoutUndefined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
