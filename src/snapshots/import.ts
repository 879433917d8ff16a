import { createHash } from 'node:crypto';
import type { Connection, Database } from '../db/database.ts';
import { countName } from '../engine/organization-tables.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import { readSchema, readShapes, type TableShape } from './columns.ts';
import {
  type BooksProblem,
  checkEnd,
  hasEndLine,
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
import { type Arrival, insertRows, silence } from './rows.ts';

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
  /** The input ended before a line break. */
  readonly isCut?: true;
}

/** What was set up, as the snapshot has it: applications, keys, webhooks, clocks. */
export type SetUpRow = SnapshotRow & { readonly line: number };
export type SetUp = ReadonlyMap<string, readonly SetUpRow[]>;

/** Decides that, when all of what was set up is known. */
export type Arrive = (header: SnapshotHeader, setUp: SetUp) => Arrival;

/** Checks the books of one organization, within the transaction that has written it. */
export type CheckBooks = (connection: Connection, orgId: string) => Promise<BooksProblem | undefined>;

export interface Imported {
  readonly orgId: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** An organization of that id is there already. */
export class OrganizationExists extends Error {
  override readonly name = 'OrganizationExists';
}

// A statement of a thousand rows takes some milliseconds, a statement for each row a hundred times that.
const rowsInInsertMax = 1_000;
const charsInInsertMax = 4 * 1024 * 1024;
const setUpRowsMax = 100_000;
const order = new Map(snapshotTables.map(({ name }, i) => [name, i]));

/** Reads one snapshot and writes its organization, in one transaction: all of it or nothing. */
export async function importOrganization(
  database: Database,
  lines: AsyncIterable<NumberedLine>,
  arrive: Arrive,
  checkBooks: CheckBooks,
): Promise<Imported> {
  return database.transaction(async (connection) => {
    const schema = await readSchema(connection);
    const writer = new SnapshotWriter(connection, await readShapes(connection), schema);
    for await (const line of lines) await writer.take(line, arrive);
    const imported = await writer.finish(arrive);
    const problem = await checkBooks(connection, imported.orgId);
    if (problem) throw new UnsoundSnapshot(problem);
    return imported;
  });
}

/** It waits for the header, then gathers what was set up, then writes: first that, then the records as they come. */
class SnapshotWriter {
  readonly #connection: Connection;
  readonly #shapes: ReadonlyMap<string, TableShape>;
  readonly #schema: number;
  #header: SnapshotHeader | undefined;
  #arrival: Arrival | undefined;
  readonly #setUp = new Map<string, (SnapshotRow & { readonly line: number })[]>();
  #setUpRows = 0;
  #place = 0;
  #last = 0;
  #chunk: (SnapshotRow & { readonly line: number })[] = [];
  #chars = 0;
  readonly #counts = new Map<string, number>();
  readonly #hash = createHash('sha256');
  readonly #read: Record<string, number> = {};
  #hasEnded = false;

  constructor(connection: Connection, shapes: ReadonlyMap<string, TableShape>, schema: number) {
    this.#connection = connection;
    this.#shapes = shapes;
    this.#schema = schema;
  }

  async take({ number, text, isCut }: NumberedLine, arrive: Arrive): Promise<void> {
    this.#last = number;
    if (!this.#header) {
      this.#header = readHeader(text, number, this.#schema);
      this.#hash.update(`${text}\n`);
      return;
    }
    if (isHeaderLine(text))
      throw new SnapshotProblem(number, 'a second snapshot begins here; import one at a time.');
    if (this.#hasEnded) throw new SnapshotProblem(number, 'there is something behind the last line.');
    if (hasEndLine(this.#header) && isEndLine(text)) {
      checkEnd(text, number, { counts: this.#read, sha256: this.#hash.digest('hex') });
      this.#hasEnded = true;
      return;
    }
    if (isCut && hasEndLine(this.#header)) throw incomplete(number);
    this.#hash.update(`${text}\n`);
    const row = { ...readRow(text, number, this.#header.organization.id), line: number };
    this.#read[row.table.name] = (this.#read[row.table.name] ?? 0) + 1;
    this.#check(row);
    if (row.table.resetPolicy === 'kept') return this.#gather(row);
    if (!this.#arrival) await this.#begin(arrive);
    this.#checkOwners(row);
    await this.#add(row);
  }

  async finish(arrive: Arrive): Promise<Imported> {
    if (!this.#header) throw new SnapshotProblem(1, 'the snapshot is empty.');
    if (hasEndLine(this.#header) && !this.#hasEnded) throw incomplete(this.#last);
    if (!this.#arrival) await this.#begin(arrive);
    await this.#flush();
    const { id } = this.#header.organization;
    const orgId = this.#arrival?.ids.get(id) ?? id;
    if (this.#arrival?.silencedBy) await silence(this.#connection, orgId, this.#arrival.silencedBy);
    return { orgId, counts: Object.fromEntries(this.#counts) };
  }

  #check({ table: { name }, fields, line }: SnapshotRow & { readonly line: number }): void {
    const place = order.get(name) ?? 0;
    if (place < this.#place)
      throw new SnapshotProblem(line, `${name} comes too late: tables have a fixed order.`);
    this.#place = place;
    const columns = this.#shapes.get(name)?.columns ?? [];
    const unknown = Object.keys(fields).find((field) => !columns.some((column) => column.name === field));
    if (unknown !== undefined) throw new SnapshotProblem(line, `${name} has no column "${unknown}".`);
    const isOld = (this.#header?.schema ?? 0) < this.#schema;
    const missing = columns.find((one) => !(one.name in fields) && !(isOld && one.isOptional));
    if (missing) throw new SnapshotProblem(line, `the row of ${name} lacks the column "${missing.name}".`);
  }

  /** What a record says it belongs to is there. */
  #checkOwners({ table: { name }, fields, line }: SnapshotRow & { readonly line: number }): void {
    for (const [column, owner] of [
      ['app_id', 'applications'],
      ['webhook_id', 'webhooks'],
    ] as const) {
      const id = fields[column];
      if (typeof id !== 'string' || id === '') continue;
      if (!this.#known(owner).has(id))
        throw new SnapshotProblem(line, `the row of ${name} names ${id}, which is not in the snapshot.`);
    }
  }

  readonly #ids = new Map<string, ReadonlySet<unknown>>();

  #known(table: string): ReadonlySet<unknown> {
    const known = this.#ids.get(table) ?? new Set(this.#setUp.get(table)?.map(({ fields }) => fields.id));
    this.#ids.set(table, known);
    return known;
  }

  #gather(row: SnapshotRow & { readonly line: number }): void {
    this.#setUpRows += 1;
    if (this.#setUpRows > setUpRowsMax) throw new SnapshotProblem(row.line, 'there is too much set up.');
    const rows = this.#setUp.get(row.table.name) ?? [];
    rows.push(row);
    this.#setUp.set(row.table.name, rows);
  }

  async #begin(arrive: Arrive): Promise<void> {
    const header = this.#header;
    const organizations = this.#setUp.get('organizations') ?? [];
    if (!header || organizations.length !== 1 || organizations[0]?.fields.id !== header.organization.id)
      throw new SnapshotProblem(this.#last, 'the row of the organization itself is missing.');
    for (const rows of this.#setUp.values()) for (const row of rows) this.#checkOwners(row);
    this.#arrival = arrive(header, this.#setUp);
    const { id } = header.organization;
    await this.#refuseKnown(this.#arrival.ids.get(id) ?? id);
    for (const rows of this.#setUp.values()) for (const row of rows) await this.#add(row);
  }

  async #refuseKnown(orgId: string): Promise<void> {
    const found = await this.#connection.query(
      { name: '', text: 'select 1 as one from organizations o where o.org_id = $1' },
      [orgId],
    );
    if (found.length > 0) throw new OrganizationExists(orgId);
    // One that was deleted may come back; see the sweep of deleted organizations.
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
      insertRows(this.#connection, this.#shapes, rows, this.#arrival);
    await this.#connection.script('savepoint chunk');
    try {
      await insert(chunk);
    } catch (error) {
      // One of them is at fault: one at a time they tell which.
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
      throw new SnapshotProblem(line, 'an organization of this server has this very API key already.');
    throw new SnapshotProblem(line, `the row does not fit into ${table.name}: ${cause.message}.`);
  }
}

function incomplete(line: number): SnapshotProblem {
  return new SnapshotProblem(
    line,
    'the file ends here, without the line of counts and the SHA-256. Copy or export it again.',
    'snapshot_incomplete',
  );
}

function hasSameFields(a: SnapshotRow, b: SnapshotRow): boolean {
  const [names, others] = [Object.keys(a.fields), Object.keys(b.fields)];
  return names.length === others.length && names.every((name) => name in b.fields);
}
