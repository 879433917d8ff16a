import pg from 'pg';
import { exceptions } from '../db/restriction/exceptions.ts';

/** Prepared statements of this process that are not checked yet, by text. Files of a worker share the process. */
const unchecked = new Map<string, string>();
const checked = new Set<string>();

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function recorded(this: pg.Client, ...args: readonly unknown[]) {
  const [config] = args as [{ readonly name?: string; readonly text?: string } | undefined];
  if (config?.name && config.text && !checked.has(config.text)) unchecked.set(config.text, config.name);
  return Reflect.apply(query, this, args);
} as typeof query;

/** Every prepared statement that a test causes must restrict its tables by `org_id`, or be listed in exceptions.ts. */
export async function expectRestricted(): Promise<void> {
  if (unchecked.size === 0) return;
  const { findUnrestricted } = await import('../db/restriction/check.ts');
  const problems: string[] = [];
  for (const [text, name] of unchecked) {
    checked.add(text);
    const { tables = [] } = exceptions.find(({ statement }) => statement === name) ?? {};
    const free = (table: string) => tables === 'all' || tables.includes(table);
    for (const problem of findUnrestricted(text, { free })) problems.push(`${name}: ${problem}`);
  }
  unchecked.clear();
  if (problems.length > 0)
    throw new Error(`Statements without org_id (see test/db/restriction):\n${problems.join('\n')}`);
}
