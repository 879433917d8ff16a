/**
 * What a migration may not do, because nodes of the release before go on working on the schema while it is applied and after it. Only
 * what it makes itself it may do anything with.
 */
import { isOutside, statementsOf } from '../../src/db/migrate.ts';

/** Those up to here were released before the rule. */
export const firstHeld = 11;

/** Those that contract, and why nobody needs any more what they remove. */
export const contracting: Readonly<Record<number, string>> = {};

interface Rule {
  readonly words: string;
  readonly pattern: RegExp;
}

const name = String.raw`(?:only\s+)?(?:if\s+exists\s+)?"?(\w+)"?`;

const rules: readonly Rule[] = [
  { words: 'drops a table', pattern: /\bdrop\s+table\b/ },
  { words: 'drops a view, a function or a trigger', pattern: /\bdrop\s+(?:view|function|trigger|type)\b/ },
  {
    words: 'drops a column',
    pattern:
      /\bdrop\s+(?:column\s+)?(?!table|view|function|trigger|type|constraint|default|not\b|index|expression|identity)\w+/,
  },
  { words: 'renames something', pattern: /\brename\b/ },
  {
    words: 'changes the type of a column',
    pattern: /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/,
  },
  { words: 'makes a column that exists obligatory', pattern: /\bset\s+not\s+null\b/ },
  { words: 'rewrites or empties a table', pattern: /\b(?:truncate|cluster|vacuum\s+full)\b/ },
  { words: 'locks a table', pattern: /\block\s+table\b/ },
];

const addedColumn =
  /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!constraint|primary|unique|check|foreign|exclude)\w+\s+[^,;]*/g;
const addedConstraint =
  /\badd\s+(?:constraint\s+\w+\s+)?(?:check|foreign\s+key|unique|primary\s+key|exclude)\b/;
const madeIndex =
  /^create\s+(?:unique\s+)?index\s+(concurrently\s+)?(?:if\s+not\s+exists\s+)?\w+\s+on\s+(?:only\s+)?(\w+)/;
const madeTable = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g;
const alteredTable = new RegExp(String.raw`^alter\s+table\s+${name}`);
const concurrent =
  /^(?:create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\b|drop\s+index\s+concurrently\s+if\s+exists\b|alter\s+table\s+\w+\s+validate\s+constraint\b)/;

/** What is wrong with a migration, in words; nothing for one that the release before can live with. */
export function unfitFor(sql: string): readonly string[] {
  const bare = withoutBodies(sql.toLowerCase());
  const statements = statementsOf(bare);
  if (isOutside({ sql: sql.toLowerCase() }))
    return statements.filter((one) => !concurrent.test(one)).map(outside);
  const own = new Set([...bare.matchAll(madeTable)].map(([, table]) => table));
  return statements.flatMap((statement) => {
    const table = alteredTable.exec(statement)?.[1];
    if (table !== undefined && own.has(table)) return [];
    return [
      ...rules.filter(({ pattern }) => pattern.test(statement)).map(({ words }) => words),
      ...more(statement, own),
    ].map((words) => `${words}: ${statement.replace(/\s+/g, ' ').slice(0, 80)}`);
  });
}

function more(statement: string, own: ReadonlySet<string | undefined>): readonly string[] {
  const found: string[] = [];
  const [, isConcurrent, table] = madeIndex.exec(statement) ?? [];
  if (table !== undefined && isConcurrent) found.push('makes an index concurrently inside a transaction');
  if (table !== undefined && !isConcurrent && !own.has(table))
    found.push('makes an index and blocks writes meanwhile');
  if (!/^alter\s+table\b/.test(statement)) return found;
  for (const [column] of statement.matchAll(addedColumn)) {
    if (/\bnot\s+null\b/.test(column) && !/\bdefault\b/.test(column))
      found.push('adds a column that the old code does not fill');
    if (/\b(?:unique|primary\s+key)\b/.test(column)) found.push('adds a constraint that makes an index');
    if (/\bdefault\s+(?:gen_random|random|clock_timestamp|nextval)/.test(column))
      found.push('adds a default that rewrites the table');
  }
  if (addedConstraint.test(statement) && !/\bnot\s+valid\b/.test(statement))
    found.push('adds a constraint that looks at all rows under a lock');
  return found;
}

const outside = (statement: string) =>
  `does more than indexes outside a transaction: ${statement.replace(/\s+/g, ' ').slice(0, 80)}`;

/** The body of a function is a matter of its own: only who calls it can say what it may do. */
function withoutBodies(sql: string): string {
  return sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/'[^']*'/g, "''");
}
