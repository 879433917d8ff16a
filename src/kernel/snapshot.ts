import { isId } from './ids.ts';
import { type OrganizationTable, organizationTables } from './organization-tables.ts';

/**
 * The words of a snapshot: JSON Lines, first what it is, then a line for each row, in the order of the tables and of their
 * keys. A line has one form, byte for byte, so that the row can be handed on as it is written: a number that is too large for
 * a double stays what it was.
 */
export const snapshotFormat = 'sandbank-snapshot';
export const snapshotVersion = 1;
export const snapshotType = 'application/jsonl';

export interface SnapshotHeader {
  readonly format: typeof snapshotFormat;
  readonly version: number;
  /** The last migration of the database that it was made from. */
  readonly schema: number;
  readonly exportedAt: string;
  readonly organization: { readonly id: string; readonly name: string };
  /** Whether the secrets of webhooks are in it, in the clear. */
  readonly hasSecrets: boolean;
}

export interface SnapshotRow {
  readonly table: OrganizationTable;
  /** As it is written. */
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const snapshotTables: readonly OrganizationTable[] = organizationTables.filter(
  ({ fate }) => fate === 'kept' || fate === 'record',
);

/** What is wrong with a snapshot, and in which line. */
export class SnapshotProblem extends Error {
  override readonly name = 'SnapshotProblem';
  readonly line: number;
  readonly isTooNew: boolean;

  constructor(line: number, words: string, isTooNew = false) {
    super(`Line ${line}: ${words}`);
    this.line = line;
    this.isTooNew = isTooNew;
  }
}

export function headerLine(header: SnapshotHeader): string {
  return `${JSON.stringify(header)}\n`;
}

export function rowLine(table: string, row: string): string {
  return `{"table":"${table}","row":${row}}\n`;
}

export function isHeaderLine(line: string): boolean {
  return line.startsWith('{"format":');
}

export function readHeader(line: string, number: number, schema: number): SnapshotHeader {
  const refuse = (words: string): never => {
    throw new SnapshotProblem(number, words);
  };
  const value = parsed(line, number) as Partial<SnapshotHeader>;
  if (value.format !== snapshotFormat)
    refuse(`a snapshot begins with {"format":"${snapshotFormat}",...}; this is something else.`);
  if (!isCount(value.version) || !isCount(value.schema)) refuse('version and schema must be whole numbers.');
  if (Number(value.version) > snapshotVersion || Number(value.schema) > schema)
    throw new SnapshotProblem(
      number,
      `the snapshot has format ${value.version} and schema ${value.schema}; this server knows them up to ${snapshotVersion} and ${schema}.`,
      true,
    );
  const { organization, hasSecrets, exportedAt } = value;
  if (typeof organization?.name !== 'string' || !isId('organization', String(organization.id)))
    refuse('organization must have an id and a name.');
  if (typeof hasSecrets !== 'boolean') refuse('hasSecrets must be true or false.');
  if (typeof exportedAt !== 'string' || Number.isNaN(Date.parse(exportedAt)))
    refuse('exportedAt must be a time.');
  return value as SnapshotHeader;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

const rowForm = /^\{"table":"([a-z_]+)","row":(\{.*\})\}$/s;
const tableByName = new Map(snapshotTables.map((table) => [table.name, table]));

export function readRow(line: string, number: number, orgId: string): SnapshotRow {
  const [, name = '', text = ''] = rowForm.exec(line) ?? [];
  if (text === '')
    throw new SnapshotProblem(
      number,
      'a row must be written as {"table":"...","row":{...}}, without spaces.',
    );
  const table = tableByName.get(name);
  if (!table) throw new SnapshotProblem(number, `"${name}" is no table of a snapshot.`);
  const fields = parsed(text, number) as Readonly<Record<string, unknown>>;
  if (fields.org_id !== orgId)
    throw new SnapshotProblem(number, `the row belongs to another organization than ${orgId}.`);
  if (table.ids !== undefined && !isId(table.ids, String(fields.id)))
    throw new SnapshotProblem(number, `"${String(fields.id)}" is no id of ${name}.`);
  return { table, text, fields };
}

function parsed(text: string, number: number): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SnapshotProblem(number, `this is no JSON: ${(error as Error).message}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SnapshotProblem(number, 'this is no JSON object.');
  return value;
}
