import { type OrganizationTable, organizationTables } from '../engine/organization-tables.ts';
import { type IdKind, isId } from '../kernel/ids.ts';

/**
 * The snapshot format: JSON Lines with a header, then a line for each row, ordered by table and key, then an end line with the
 * number of rows per table, the SHA-256 of all lines before it, and the server's signature of it. The syntax of a line is fixed byte for byte, so that the row's
 * text can be passed on unparsed: a number that is too large for a double keeps its value.
 */
export const snapshotFormat = 'sandbank-snapshot';
export const snapshotVersion = 2;
// Version 1 has no end line. Such files can still be read, because a server that persists to a file must survive an upgrade.
const endLineSince = 2;
export const snapshotType = 'application/jsonl';

export interface SnapshotHeader {
  readonly format: typeof snapshotFormat;
  readonly version: number;
  /** The last migration of the source database. */
  readonly schema: number;
  readonly exportedAt: string;
  readonly organization: { readonly id: string; readonly name: string };
  /** Whether it contains the webhook secrets, in plain text. */
  readonly hasSecrets: boolean;
}

/** The end line. */
export interface SnapshotEnd {
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
  /** The signature of the server that exported the file. Early files of version 2 have none. */
  readonly signature?: string;
}

export interface SnapshotRow {
  readonly table: OrganizationTable;
  /** The unparsed JSON. */
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const snapshotTables: readonly OrganizationTable[] = organizationTables.filter(
  ({ resetPolicy }) => resetPolicy === 'configuration' || resetPolicy === 'record',
);

/** An invalid snapshot, with the line number. */
export class SnapshotProblem extends Error {
  override readonly name = 'SnapshotProblem';
  readonly details: Readonly<Record<string, unknown>>;
  readonly code: 'snapshot_invalid' | 'snapshot_too_new' | 'snapshot_incomplete';

  constructor(line: number, message: string, code: SnapshotProblem['code'] = 'snapshot_invalid') {
    super(`Line ${line}: ${message}`);
    this.details = { line };
    this.code = code;
  }
}

export function empty(): SnapshotProblem {
  return new SnapshotProblem(1, 'the snapshot is empty.');
}

export function incomplete(line: number): SnapshotProblem {
  return new SnapshotProblem(
    line,
    'the file ends here, without the end line that has the counts and the SHA-256. Copy or export it again.',
    'snapshot_incomplete',
  );
}

/** A snapshot whose rows contradict each other. */
export class UnsoundSnapshot extends Error {
  override readonly name = 'UnsoundSnapshot';
  readonly details: Readonly<Record<string, unknown>>;

  constructor({ check, message, ...details }: BooksProblem) {
    super(`The books of the snapshot are not sound. ${message}`);
    this.details = { check, ...details };
  }
}

/** The first difference that the checks of `verify` find. */
export interface BooksProblem {
  readonly check: string;
  readonly message: string;
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
}

export function headerLine(header: SnapshotHeader): string {
  return `${JSON.stringify(header)}\n`;
}

export function rowLine(table: string, row: string): string {
  return `{"table":"${table}","row":${row}}\n`;
}

export function endLine(end: SnapshotEnd): string {
  return `${JSON.stringify(end)}\n`;
}

const endPattern = /^\{"counts":\{[^}]*\},"sha256":"[0-9a-f]{64}"(,"signature":"[0-9a-f]{64}")?\}$/;

export function isEndLine(line: string): boolean {
  return endPattern.test(line);
}

export function hasEndLine({ version }: SnapshotHeader): boolean {
  return version >= endLineSince;
}

export function readEnd(line: string, number: number): SnapshotEnd {
  return parsed(line, number) as SnapshotEnd;
}

/** Compares the end line with the lines that were read. */
export function checkEnd(line: string, number: number, read: SnapshotEnd): void {
  const { counts, sha256 } = readEnd(line, number);
  for (const name of new Set([...Object.keys(counts), ...Object.keys(read.counts)])) {
    const [expected, found] = [counts[name] ?? 0, read.counts[name] ?? 0];
    if (expected !== found)
      throw new SnapshotProblem(
        number,
        `the snapshot was exported with ${expected} rows of ${name} and has ${found}. Export it again.`,
        found < expected ? 'snapshot_incomplete' : 'snapshot_invalid',
      );
  }
  if (sha256 !== read.sha256)
    throw new SnapshotProblem(
      number,
      'the SHA-256 does not match: the file was changed after the export. Export it again.',
    );
}

export function isHeaderLine(line: string): boolean {
  return line.startsWith('{"format":');
}

/** `Date.parse` alone accepts any text with a number. */
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

export function readHeader(line: string, number: number, schema: number): SnapshotHeader {
  const refuse = (message: string): never => {
    throw new SnapshotProblem(number, message);
  };
  const value = parsed(line, number) as Partial<SnapshotHeader>;
  if (value.format !== snapshotFormat)
    refuse(`a snapshot begins with {"format":"${snapshotFormat}",...}; this file does not.`);
  if (!isCount(value.version) || !isCount(value.schema)) refuse('version and schema must be whole numbers.');
  if (Number(value.version) > snapshotVersion || Number(value.schema) > schema)
    throw new SnapshotProblem(
      number,
      `the snapshot has format ${value.version} and schema ${value.schema}; this server supports them up to ${snapshotVersion} and ${schema}.`,
      'snapshot_too_new',
    );
  const { organization, hasSecrets, exportedAt } = value;
  if (typeof organization?.name !== 'string' || !isIdText('organization', organization.id))
    refuse('organization must have an id and a name.');
  if (typeof hasSecrets !== 'boolean') refuse('hasSecrets must be true or false.');
  if (typeof exportedAt !== 'string' || !timePattern.test(exportedAt) || Number.isNaN(Date.parse(exportedAt)))
    refuse('exportedAt must be an RFC 3339 time.');
  return value as SnapshotHeader;
}

/** A list with one id has the same text as the id, and the database would store its JSON. */
function isIdText(kind: IdKind, value: unknown): boolean {
  return typeof value === 'string' && isId(kind, value);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

const rowPattern = /^\{"table":"([a-z_]+)","row":(\{.*\})\}$/s;
const tableByName = new Map(snapshotTables.map((table) => [table.name, table]));

export function readRow(line: string, number: number, orgId: string): SnapshotRow {
  const [, name = '', text = ''] = rowPattern.exec(line) ?? [];
  if (text === '')
    throw new SnapshotProblem(
      number,
      'a row must be written as {"table":"...","row":{...}}, without spaces.',
    );
  const table = tableByName.get(name);
  if (!table) throw new SnapshotProblem(number, `"${name}" is not a snapshot table.`);
  const fields = parsed(text, number) as Readonly<Record<string, unknown>>;
  if (fields.org_id !== orgId)
    throw new SnapshotProblem(number, `the row belongs to another organization, not to ${orgId}.`);
  if (table.ids !== undefined && !isIdText(table.ids, fields.id))
    throw new SnapshotProblem(number, `${JSON.stringify(fields.id)} is not a valid id in ${name}.`);
  return { table, text, fields };
}

function parsed(text: string, number: number): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SnapshotProblem(number, `this line is not valid JSON: ${(error as Error).message}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SnapshotProblem(number, 'this line is not a JSON object.');
  return value;
}
