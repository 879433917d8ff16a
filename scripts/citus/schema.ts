import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { organizationTables } from '../../src/engine/organization-tables.ts';

/** A table as `migrations/schema.golden.txt` describes it. A test compares that file with a migrated database. */
export interface SchemaTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly constraints: readonly string[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
}

export interface DatabaseSchema {
  readonly tables: readonly SchemaTable[];
  readonly sequences: readonly string[];
  /** `create function` statements. */
  readonly functions: readonly string[];
}

const golden = fileURLToPath(new URL('../../migrations/schema.golden.txt', import.meta.url));

export function readSchema(text = readFileSync(golden, 'utf8')): DatabaseSchema {
  // A function may have empty lines, so sections are found by how they begin.
  const sections = text.trimEnd().split(/\n\n(?=table |sequence |CREATE OR REPLACE FUNCTION )/);
  const starting = (prefix: string) => sections.filter((section) => section.startsWith(prefix));
  return {
    tables: starting('table ').map(tableOf),
    sequences: starting('sequence ').map((section) => section.slice('sequence '.length)),
    functions: starting('CREATE OR REPLACE FUNCTION '),
  };
}

function tableOf(section: string): SchemaTable {
  const [first = '', ...rest] = section.split('\n');
  const lines = rest.map((line) => line.trim());
  const isIndex = (line: string) => /^CREATE (UNIQUE )?INDEX /.test(line);
  const isTrigger = (line: string) => /^CREATE (CONSTRAINT )?TRIGGER /.test(line);
  const isConstraint = (line: string) => line.startsWith('constraint ');
  return {
    name: first.slice('table '.length),
    columns: lines
      .filter((line) => !isIndex(line) && !isTrigger(line) && !isConstraint(line))
      .map((line) => line.split(' ')[0] ?? ''),
    constraints: lines.filter(isConstraint).map((line) => line.slice('constraint '.length)),
    indexes: lines.filter(isIndex),
    triggers: lines.filter(isTrigger),
  };
}

/** Tables with `org_id` are distributed by it; the others become reference tables, with a copy on every worker. */
export const distributedTables: readonly string[] = organizationTables.map(({ name }) => name);
