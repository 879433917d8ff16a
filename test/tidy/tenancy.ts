import { lineAt, type Rule, type Source, type Violation } from './source.ts';

/** Tables without an organization, each with the reason. */
export const exempt: ReadonlyMap<string, string> = new Map([
  ['schema_migrations', 'applied migrations belong to the database, not to an organization'],
  ...['persons', 'person_accounts', 'person_sessions', 'person_verifications', 'person_two_factors'].map(
    (table) => [table, 'a person may belong to several organizations'] as const,
  ),
  ['sign_in_tries', 'the person is not authenticated yet'],
  ['sign_in_budgets', 'the person is not authenticated yet'],
  ['person_passkeys', 'a person may belong to several organizations'],
  ['account_events', 'a person may belong to several organizations'],
  ['password_reset_links', 'a person may belong to several organizations'],
]);

/** Every table's primary key starts with org_id, so that no row can exist outside an organization. */
export const tenancy: Rule = (tree) =>
  tree.filter(({ path }) => /^migrations\/.+\.sql$/.test(path)).flatMap((file) => tablesOf(file, tree));

function tablesOf(file: Source, tree: readonly Source[]): Violation[] {
  const sql = stripSql(file.text);
  const create =
    /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?([\w."]+)\s*(partition\s+of\b)?/gi;
  return [...sql.matchAll(create)].flatMap((match) => {
    const table = (match[1] ?? '').replaceAll('"', '').replace(/^public\./, '');
    // A partition has the primary key of its parent, which is checked separately.
    if (exempt.has(table) || match[2] !== undefined) return [];
    const key = keyInBody(bodyAt(sql, match.index + match[0].length)) ?? keyAddedLater(table, tree);
    if (key === 'org_id') return [];
    const found = key === undefined ? 'it has none' : `it starts with ${key}`;
    const message = `the primary key of ${table} must start with org_id; ${found}`;
    return [{ file: file.path, line: lineAt(sql, match.index), rule: 'tenancy', message }];
  });
}

/** The first column of the primary key in the body of a `create table`. */
function keyInBody(body: string): string | undefined {
  for (const item of topLevelItems(body)) {
    const list = /\bprimary\s+key\s*\(\s*"?(\w+)/i.exec(item);
    if (list !== null) return list[1];
    if (/\bprimary\s+key\b/i.test(item)) return /^\s*"?(\w+)/.exec(item)?.[1];
  }
  return undefined;
}

function keyAddedLater(table: string, tree: readonly Source[]): string | undefined {
  const add = new RegExp(
    `\\balter\\s+table\\s+(?:only\\s+)?"?${table}"?\\s[^;]*?\\bprimary\\s+key\\s*\\(\\s*"?(\\w+)`,
    'i',
  );
  const files = tree.filter(({ path }) => /^migrations\/.+\.sql$/.test(path));
  return files.map(({ text }) => add.exec(stripSql(text))?.[1]).find((key) => key !== undefined);
}

/** The text inside the parentheses that open at or after a position; empty when none opens. */
function bodyAt(sql: string, from: number): string {
  if (!/^\s*\(/.test(sql.slice(from))) return '';
  const open = sql.indexOf('(', from);
  let depth = 0;
  for (let at = open; at < sql.length; at += 1) {
    if (sql[at] === '(') depth += 1;
    if (sql[at] === ')') depth -= 1;
    if (depth === 0) return sql.slice(open + 1, at);
  }
  return sql.slice(open + 1);
}

function topLevelItems(body: string): string[] {
  const items = [''];
  let depth = 0;
  for (const char of body) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char === ',' && depth === 0) items.push('');
    else items[items.length - 1] += char;
  }
  return items;
}

/** Blanks comments and string contents; quoted names stay. Dollar-quoted bodies stay too: they may create tables. */
function stripSql(sql: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, blank);
}
