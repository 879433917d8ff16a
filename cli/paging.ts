import type { Spec } from './declare.ts';
import { table } from './layout.ts';
import type { Output } from './output.ts';
import { whole } from './reading.ts';

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

const limitMax = 100;

/** The flags of every list. */
export const pageOptions: NonNullable<Spec<PageOptions>['options']> = [
  ['--limit <count>', `how many, 1 to ${limitMax} (20)`, whole(1, limitMax)],
  ['--cursor <cursor>', 'go on where a page has ended'],
];

interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

/** One page: as the API returns it for machines, as a table for people, with an optional summary of the whole list above it. */
export async function showPage<Item, Answer extends ListAnswer<Item>>(
  out: Output,
  pages: PromiseLike<Answer & ListAnswer<Item>>,
  head: readonly string[],
  row: (item: Item) => readonly string[],
  summary?: (page: Answer) => string,
): Promise<void> {
  const page = await pages;
  out.show(page, () => {
    const lines = page.data.length === 0 ? 'There are none.' : table(head, page.data.map(row));
    return summary === undefined ? lines : `${summary(page)}\n\n${lines}`;
  });
  if (page.hasMore && !out.isJson)
    out.say(out.paintAside.dim(`There are more: add --cursor ${page.nextCursor}`));
}

/** Only what was given: the API refuses fields that it does not know, and undefined is not a value. */
export function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
