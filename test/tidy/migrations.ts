/**
 * Rejects migrations that break nodes of the previous release, which use the schema while the migration runs and afterwards. A
 * migration may do anything with tables that it creates itself.
 */
import { isOutside, statementsOf } from '../../src/db/migrate.ts';

/** Earlier migrations were released before the rule. */
export const firstChecked = 11;

/** Contracting migrations, each with the reason why the removed part is no longer used. */
export const contracting: Readonly<Record<number, string>> = {};

interface Rule {
  readonly problem: string;
  readonly pattern: RegExp;
}

const name = String.raw`(?:only\s+)?(?:if\s+exists\s+)?"?(\w+)"?`;

const rules: readonly Rule[] = [
  { problem: 'drops a table', pattern: /\bdrop\s+table\b/ },
  { problem: 'drops a view, a function or a trigger', pattern: /\bdrop\s+(?:view|function|trigger|type)\b/ },
  {
    problem: 'drops a column',
    pattern:
      /\bdrop\s+(?:column\s+)?(?!table|view|function|trigger|type|constraint|default|not\b|index|expression|identity)\w+/,
  },
  { problem: 'renames something', pattern: /\brename\b/ },
  {
    problem: 'changes the type of a column',
    pattern: /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/,
  },
  { problem: 'makes an existing column required', pattern: /\bset\s+not\s+null\b/ },
  { problem: 'rewrites or empties a table', pattern: /\b(?:truncate|cluster|vacuum\s+full)\b/ },
  { problem: 'locks a table', pattern: /\block\s+table\b/ },
];

const addedColumn =
  /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!constraint|primary|unique|check|foreign|exclude)\w+\s+[^,;]*/g;
const addedConstraint =
  /\badd\s+(?:constraint\s+\w+\s+)?(?:check|foreign\s+key|unique|primary\s+key|exclude)\b/;
const createdIndex =
  /^create\s+(?:unique\s+)?index\s+(concurrently\s+)?(?:if\s+not\s+exists\s+)?\w+\s+on\s+(?:only\s+)?(\w+)/;
const createdTable = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g;
const alteredTable = new RegExp(String.raw`^alter\s+table\s+${name}`);
const concurrent =
  /^(?:create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\b|drop\s+index\s+concurrently\s+if\s+exists\b|alter\s+table\s+\w+\s+validate\s+constraint\b)/;

/** The problems of a migration for the previous release; empty if it is compatible. */
export function problemsOf(sql: string): readonly string[] {
  const bare = withoutBodies(sql.toLowerCase());
  const statements = statementsOf(bare);
  if (isOutside({ sql: sql.toLowerCase() }))
    return statements.filter((one) => !concurrent.test(one)).map(outside);
  const own = new Set([...bare.matchAll(createdTable)].map(([, table]) => table));
  return statements.flatMap((statement) => {
    const table = alteredTable.exec(statement)?.[1];
    if (table !== undefined && own.has(table)) return [];
    return [
      ...rules.filter(({ pattern }) => pattern.test(statement)).map(({ problem }) => problem),
      ...statementProblems(statement, own),
    ].map((problem) => `${problem}: ${statement.replace(/\s+/g, ' ').slice(0, 80)}`);
  });
}

function statementProblems(statement: string, own: ReadonlySet<string | undefined>): readonly string[] {
  const found: string[] = [];
  const [, isConcurrent, table] = createdIndex.exec(statement) ?? [];
  if (table !== undefined && isConcurrent) found.push('creates an index concurrently inside a transaction');
  if (table !== undefined && !isConcurrent && !own.has(table))
    found.push('creates an index and blocks writes meanwhile');
  if (!/^alter\s+table\b/.test(statement)) return found;
  for (const [column] of statement.matchAll(addedColumn)) {
    if (/\bnot\s+null\b/.test(column) && !/\bdefault\b/.test(column))
      found.push('adds a column that the old code does not fill');
    if (/\b(?:unique|primary\s+key)\b/.test(column)) found.push('adds a constraint that creates an index');
    if (/\bdefault\s+(?:gen_random|random|clock_timestamp|nextval)/.test(column))
      found.push('adds a default that rewrites the table');
  }
  if (addedConstraint.test(statement) && !/\bnot\s+valid\b/.test(statement))
    found.push('adds a constraint that validates all rows under a lock');
  return found;
}

const outside = (statement: string) =>
  `does more than indexes outside a transaction: ${statement.replace(/\s+/g, ' ').slice(0, 80)}`;

/** Function bodies are not checked: their effect depends on the caller. */
function withoutBodies(sql: string): string {
  return sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/'[^']*'/g, "''");
}
