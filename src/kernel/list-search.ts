import { limits } from './limits.ts';
import { encodeCursor, type Page, pageOf } from './list.ts';
import type { AnyRow, PageQuery, PageSearch, Reader, SearchedTexts, Statement, Table } from './table.ts';

/** SQL conditions: a column contains the text, in any case. Not with `like`, whose wildcards the text may contain. */
export const containing = (columns: readonly string[], alias: string, text: string): readonly string[] =>
  columns.map((column) => `strpos(lower(${alias}.${column}), lower(${text})) > 0`);

/** The SQL condition that a row of the table, as `t`, matches the text. */
export function matching({ ids, texts, parent }: SearchedTexts, text: string): string {
  const own = [
    ...ids.map((column) => `starts_with(t.${column}, lower(${text}))`),
    ...containing(texts, 't', text),
  ];
  if (parent) {
    const { table, key, texts: parentTexts } = parent;
    const ofParent = containing(parentTexts, 'p', text).join(' or ');
    own.push(
      `exists (select from ${table} p where p.org_id = t.org_id and p.id = t.${key} and (${ofParent}))`,
    );
  }
  return `(${own.join(' or ')})`;
}

/**
 * The oldest row that one page may read, and the row after it. A page reads no more rows than that: an index that could answer a search
 * would slow down every write.
 */
const findWindowEnd = <Row>({ name }: Table<Row>, hasCursor: boolean): Statement => ({
  name: `${name}_window${hasCursor ? '_after' : ''}`,
  text:
    `select t.id from ${name} t where t.org_id = $1${hasCursor ? ' and t.id < $2' : ''} ` +
    `order by t.org_id desc, t.id desc offset ${limits.rowsSearchedMax - 1} limit 2`,
});

/**
 * A page of rows that a filter without an index selects. It reads a window of rows from the cursor on; if it finds less than a page in them, the
 * next page continues after the window. So a page may have fewer rows than requested, and even none, although there are more.
 */
export function findInWindow<Row extends AnyRow>(
  reader: Pick<Reader, 'rows' | 'page'>,
  query: PageQuery<Row>,
  search: PageSearch,
): PromiseLike<Page<Row>> {
  const { table, orgId, conditions, limit } = query;
  const after = conditions.find(({ column, operator }) => column === 'id' && operator === '<')?.value;
  const values = after === undefined ? [orgId] : [orgId, after];
  return reader
    .rows<{ id: string }>(findWindowEnd(table, after !== undefined), values)
    .then(([end, older]) => {
      const window = end === undefined ? [] : [{ column: 'id', operator: '>=', value: end.id } as const];
      return reader.page({ ...query, conditions: [...conditions, ...window], search }).then((rows) => {
        const page = pageOf(rows, limit - 1);
        if (page.hasMore || end === undefined || older === undefined) return page;
        return { ...page, hasMore: true, nextCursor: encodeCursor(end.id) };
      });
    });
}
