import { createHash } from 'node:crypto';
import type { Connection, Database } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import { countName } from '../engine/organization-tables.ts';
import { readSchema, readShapes, type SnapshotColumn, type TableShape } from './columns.ts';
import {
  type BooksProblem,
  checkEnd,
  empty,
  hasEndLine,
  incomplete,
  isEndLine,
  isHeaderLine,
  readHeader,
  readRow,
  type SnapshotHeader,
  SnapshotProblem,
  type SnapshotRow,
  snapshotTables,
  UnsoundSnapshot,
} from './format.ts';
import {
  beginReplacement,
  clearForReplacement,
  finishReplacement,
  isRetained,
  type Replaced,
  type Retained,
} from './replacement.ts';
import { disableWebhooks, type ImportPlan, insertRows } from './rows.ts';

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
  /** The input ended before a line break. */
  readonly isTruncated?: true;
}

/** The configuration rows of a snapshot: applications, keys, webhooks, clocks. */
export type ConfigurationRow = SnapshotRow & { readonly line: number };
export type Configuration = ReadonlyMap<string, readonly ConfigurationRow[]>;

/** Called when all configuration rows have been read. An import that replaces an organization has what is retained of it. */
export type PlanImport = (
  header: SnapshotHeader,
  configuration: Configuration,
  retained?: Retained,
) => ImportPlan;

/** Checks the books of one organization in the transaction that has written it. */
export type CheckBooks = (connection: Connection, orgId: string) => Promise<BooksProblem | undefined>;

export interface Imported {
  readonly orgId: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** An organization with this id exists already. */
export class OrganizationExists extends Error {
  override readonly name = 'OrganizationExists';
}

// A statement with a thousand rows takes a few milliseconds; a statement for each row takes a hundred times as long.
const rowsInInsertMax = 1_000;
const charsInInsertMax = 4 * 1024 * 1024;
const configurationRowsMax = 100_000;
const order = new Map(snapshotTables.map(({ name }, i) => [name, i]));

/** Reads one snapshot and writes its organization in one transaction. `replaced` is the organization whose content it replaces. */
export async function importOrganization(
  database: Database,
  lines: AsyncIterable<NumberedLine>,
  plan: PlanImport,
  checkBooks: CheckBooks,
  replaced: Replaced | undefined,
): Promise<Imported> {
  return database.transaction(async (connection) => {
    const schema = await readSchema(connection);
    const writer = new SnapshotWriter(connection, await readShapes(connection), schema, replaced);
    for await (const line of lines) await writer.take(line, plan);
    const imported = await writer.finish(plan);
    const problem = await checkBooks(connection, imported.orgId);
    if (problem) throw new UnsoundSnapshot(problem);
    return imported;
  });
}

/** Reads the header, collects the configuration rows, writes them, then writes the records as they arrive. */
class SnapshotWriter {
  readonly #connection: Connection;
  readonly #shapes: ReadonlyMap<string, TableShape>;
  readonly #schema: number;
  readonly #replaced: Replaced | undefined;
  #retained: Retained | undefined;
  #header: SnapshotHeader | undefined;
  #plan: ImportPlan | undefined;
  readonly #configuration = new Map<string, (SnapshotRow & { readonly line: number })[]>();
  #configurationRows = 0;
  #tableIndex = 0;
  #last = 0;
  #chunk: (SnapshotRow & { readonly line: number })[] = [];
  #chars = 0;
  readonly #counts = new Map<string, number>();
  readonly #hash = createHash('sha256');
  readonly #read: Record<string, number> = {};
  #hasEnded = false;

  constructor(
    connection: Connection,
    shapes: ReadonlyMap<string, TableShape>,
    schema: number,
    replaced: Replaced | undefined,
  ) {
    this.#connection = connection;
    this.#shapes = shapes;
    this.#schema = schema;
    this.#replaced = replaced;
  }

  async take({ number, text, isTruncated }: NumberedLine, plan: PlanImport): Promise<void> {
    this.#last = number;
    if (!this.#header) {
      this.#header = readHeader(text, number, this.#schema);
      this.#hash.update(`${text}\n`);
      return;
    }
    if (isHeaderLine(text))
      throw new SnapshotProblem(number, 'a second snapshot begins here; import one at a time.');
    if (this.#hasEnded) throw new SnapshotProblem(number, 'there is content after the end line.');
    if (hasEndLine(this.#header) && isEndLine(text)) {
      checkEnd(text, number, { counts: this.#read, sha256: this.#hash.digest('hex') });
      this.#hasEnded = true;
      return;
    }
    if (isTruncated && hasEndLine(this.#header)) throw incomplete(number);
    this.#hash.update(`${text}\n`);
    const row = { ...readRow(text, number, this.#header.organization.id), line: number };
    this.#read[row.table.name] = (this.#read[row.table.name] ?? 0) + 1;
    this.#check(row);
    if (row.table.resetPolicy === 'configuration') return this.#collect(row);
    if (!this.#plan) await this.#begin(plan);
    this.#checkOwners(row);
    if (this.#isWritten(row)) await this.#add(row);
  }

  #isWritten({ table: { name }, fields }: SnapshotRow): boolean {
    return this.#replaced === undefined || !isRetained(name, fields);
  }

  async finish(plan: PlanImport): Promise<Imported> {
    if (!this.#header) throw empty();
    if (hasEndLine(this.#header) && !this.#hasEnded) throw incomplete(this.#last);
    if (!this.#plan) await this.#begin(plan);
    await this.#flush();
    const { id } = this.#header.organization;
    const orgId = this.#plan?.ids.get(id) ?? id;
    if (this.#replaced && this.#retained)
      await finishReplacement(this.#connection, this.#replaced, this.#retained, this.#applicationIds);
    if (this.#plan?.disabledBy) await disableWebhooks(this.#connection, orgId, this.#plan.disabledBy);
    return { orgId, counts: Object.fromEntries(this.#counts) };
  }

  #check({ table: { name }, fields, line }: SnapshotRow & { readonly line: number }): void {
    const index = order.get(name) ?? 0;
    if (index < this.#tableIndex)
      throw new SnapshotProblem(line, `${name} is out of order: tables have a fixed order.`);
    this.#tableIndex = index;
    const columns = this.#shapes.get(name)?.columns ?? [];
    const unknown = Object.keys(fields).find((field) => !columns.some((column) => column.name === field));
    if (unknown !== undefined) throw new SnapshotProblem(line, `${name} has no column "${unknown}".`);
    const isOld = (this.#header?.schema ?? 0) < this.#schema;
    const missing = columns.find((one) => !(one.name in fields) && !(isOld && one.isOptional));
    if (missing) throw new SnapshotProblem(line, `the row of ${name} lacks the column "${missing.name}".`);
    // The database would convert another value, a list with an id to a text, for example.
    const wrong = columns.find((one) => !hasType(one, fields[one.name]));
    if (wrong)
      throw new SnapshotProblem(
        line,
        `the column "${wrong.name}" of ${name} must be of the type ${wrong.jsonType}.`,
      );
  }

  /** Checks that the application and the webhook of a row are in the snapshot. */
  #checkOwners({ table: { name }, fields, line }: SnapshotRow & { readonly line: number }): void {
    for (const [column, owner] of [
      ['app_id', 'applications'],
      ['webhook_id', 'webhooks'],
    ] as const) {
      const id = fields[column];
      if (typeof id !== 'string' || id === '') continue;
      if (!this.#known(owner).has(id))
        throw new SnapshotProblem(line, `the row of ${name} references ${id}, which is not in the snapshot.`);
    }
  }

  readonly #ids = new Map<string, ReadonlySet<unknown>>();

  #known(table: string): ReadonlySet<unknown> {
    const known =
      this.#ids.get(table) ?? new Set(this.#configuration.get(table)?.map(({ fields }) => fields.id));
    this.#ids.set(table, known);
    return known;
  }

  #collect(row: SnapshotRow & { readonly line: number }): void {
    this.#configurationRows += 1;
    if (this.#configurationRows > configurationRowsMax)
      throw new SnapshotProblem(row.line, `there are more than ${configurationRowsMax} configuration rows.`);
    const rows = this.#configuration.get(row.table.name) ?? [];
    rows.push(row);
    this.#configuration.set(row.table.name, rows);
  }

  async #begin(plan: PlanImport): Promise<void> {
    const header = this.#header;
    const organizations = this.#configuration.get('organizations') ?? [];
    if (!header || organizations.length !== 1 || organizations[0]?.fields.id !== header.organization.id)
      throw new SnapshotProblem(this.#last, 'the row of the organization itself is missing.');
    for (const rows of this.#configuration.values()) for (const row of rows) this.#checkOwners(row);
    this.#plan = await (this.#replaced === undefined
      ? this.#planNew(header, plan)
      : this.#planReplacement(header, plan, this.#replaced));
    for (const rows of this.#configuration.values())
      for (const row of rows) if (this.#isWritten(row)) await this.#add(row);
  }

  async #planNew(header: SnapshotHeader, plan: PlanImport): Promise<ImportPlan> {
    const planned = plan(header, this.#configuration);
    const { id } = header.organization;
    await this.#refuseExisting(planned.ids.get(id) ?? id);
    return planned;
  }

  async #planReplacement(header: SnapshotHeader, plan: PlanImport, { orgId }: Replaced): Promise<ImportPlan> {
    if (header.organization.id !== orgId)
      throw new SnapshotProblem(1, 'the snapshot is of another organization. Restore it as a new one.');
    this.#retained = await beginReplacement(this.#connection, orgId);
    await clearForReplacement(this.#connection, orgId, this.#applicationIds);
    return plan(header, this.#configuration, this.#retained);
  }

  get #applicationIds(): readonly string[] {
    return (this.#configuration.get('applications') ?? []).map(({ fields }) => String(fields.id));
  }

  async #refuseExisting(orgId: string): Promise<void> {
    const found = await this.#connection.query(
      { name: '', text: 'select 1 as one from organizations o where o.org_id = $1' },
      [orgId],
    );
    if (found.length > 0) throw new OrganizationExists(orgId);
    // A deleted organization may be imported again; without this the sweep would delete its rows.
    await this.#connection.query(
      { name: '', text: 'delete from deleted_organizations d where d.org_id = $1' },
      [orgId],
    );
  }

  async #add(row: SnapshotRow & { readonly line: number }): Promise<void> {
    const [first] = this.#chunk;
    const isOther = first && (first.table !== row.table || !hasSameFields(first, row));
    if (isOther || this.#chunk.length >= rowsInInsertMax || this.#chars >= charsInInsertMax)
      await this.#flush();
    this.#chunk.push(row);
    this.#chars += row.text.length;
  }

  async #flush(): Promise<void> {
    const chunk = this.#chunk;
    this.#chunk = [];
    this.#chars = 0;
    const [first] = chunk;
    if (!first) return;
    const insert = (rows: readonly SnapshotRow[]) =>
      insertRows(this.#connection, this.#shapes, rows, this.#plan);
    await this.#connection.script('savepoint chunk');
    try {
      await insert(chunk);
    } catch (error) {
      // Insert the rows one at a time to find the invalid one.
      await this.#connection.script('rollback to savepoint chunk');
      for (const row of chunk) await insert([row]).catch((fault: unknown) => this.#explain(fault, row));
      throw error;
    }
    await this.#connection.script('release savepoint chunk');
    const name = countName(first.table.name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + chunk.length);
  }

  #explain(fault: unknown, { line, table }: SnapshotRow & { readonly line: number }): never {
    const isLost = fault instanceof DatabaseFailure && fault.kind !== 'conflict';
    if (isLost || !(fault instanceof Error)) throw fault;
    const cause = fault.cause instanceof Error ? fault.cause : fault;
    const { constraint } = fault as { constraint?: string };
    if (constraint === 'organizations_pkey') throw new OrganizationExists(cause.message);
    if (constraint === 'api_keys_by_hash')
      throw new SnapshotProblem(line, 'an organization on this server already has this API key.');
    throw new SnapshotProblem(line, `the row does not fit into ${table.name}: ${cause.message}.`);
  }
}

function hasType({ jsonType }: SnapshotColumn, value: unknown): boolean {
  if (jsonType === 'any' || value === null || value === undefined) return true;
  return jsonType === 'array' ? Array.isArray(value) : typeof value === jsonType;
}

function hasSameFields(a: SnapshotRow, b: SnapshotRow): boolean {
  const [names, others] = [Object.keys(a.fields), Object.keys(b.fields)];
  return names.length === others.length && names.every((name) => name in b.fields);
}
