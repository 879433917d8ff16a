/** A row as it was read, with the revision that identifies this state of it. */
export interface CachedRow<Row> {
  readonly row: Row;
  readonly revision: string;
}

interface Entry extends CachedRow<Owned> {
  readonly table: string;
  readonly bytes: number;
}

interface Owned {
  readonly orgId: string;
  readonly id: string;
}

/** Objects that V8 creates for a row and for its rendered text, beside the characters themselves. */
const bytesPerRow = 2_000;
/** A character is held in the row and in its rendered text, where the field names are added. */
const bytesPerCharacter = 3;

/**
 * Rows that were read recently, up to a number of bytes. There are two generations: a row that is found in the old one moves to the
 * young one, and when the young one is full it becomes the old one. So the rows that nobody reads are dropped together, and a row
 * that is found costs no bookkeeping.
 *
 * A row is found only in its own table and by its own organization, and the caller has to confirm the revision with the database.
 */
export class RowCache {
  readonly #bytesMax: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** An estimate: V8 does not report the size of an object. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get<Row extends Owned>(table: string, orgId: string, id: string): CachedRow<Row> | undefined {
    const young = this.#young.get(id);
    const entry = young ?? this.#old.get(id);
    if (entry === undefined || entry.row.orgId !== orgId || entry.table !== table) return undefined;
    if (young === undefined) this.#add(entry);
    return entry as unknown as CachedRow<Row>;
  }

  set<Row extends Owned>(table: string, { row, revision }: CachedRow<Row>): void {
    this.#add({ row, revision, table, bytes: bytesOf(row) });
  }

  delete(id: string): void {
    this.#youngBytes -= this.#young.get(id)?.bytes ?? 0;
    this.#young.delete(id);
    this.#oldBytes -= this.#old.get(id)?.bytes ?? 0;
    this.#old.delete(id);
  }

  #add(entry: Entry): void {
    const { id } = entry.row;
    this.delete(id);
    if (entry.bytes > this.#bytesMax / 2) return;
    if (this.#youngBytes + entry.bytes > this.#bytesMax / 2) {
      this.#old = this.#young;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(id, entry);
    this.#youngBytes += entry.bytes;
  }
}

function bytesOf(row: object): number {
  let characters = 0;
  for (const value of Object.values(row)) {
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'object' && value !== null) characters += JSON.stringify(value).length;
  }
  return bytesPerRow + bytesPerCharacter * characters;
}
