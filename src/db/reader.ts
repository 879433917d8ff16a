import { assert } from '../kernel/assert.ts';
import type { Reader } from '../kernel/route.ts';
import { type AnyRow, type Statement, selectByKeys, type Table } from '../kernel/table.ts';
import { encodeArray } from './array.ts';
import type { Database } from './database.ts';

const lookupsInFlightMax = 2;
const keysInLookupMax = 256;

interface Waiting {
  readonly orgId: string;
  readonly id: string;
  readonly resolve: (row: AnyRow | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads for the API. Single records are looked up in groups: a look-up leaves at once when the database is idle, else it
 * takes along all that came meanwhile. One request alone waits for nobody, sixty-four share a round trip.
 */
export function createReader(database: Database): Reader {
  const lookups = new Map<string, GroupedLookup>();
  return {
    rows: <Row>(statement: Statement, values: readonly unknown[]) => database.query<Row>(statement, values),
    byKey: <Row extends AnyRow>(table: Table<Row>, orgId: string, id: string) => {
      let lookup = lookups.get(table.name);
      if (!lookup) {
        lookup = new GroupedLookup(database, selectByKeys(table, 'none'));
        lookups.set(table.name, lookup);
      }
      return lookup.find(orgId, id) as Promise<Row | undefined>;
    },
  };
}

class GroupedLookup {
  readonly #database: Database;
  readonly #statement: Statement;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(database: Database, statement: Statement) {
    this.#database = database;
    this.#statement = statement;
  }

  find(orgId: string, id: string): Promise<AnyRow | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ orgId, id, resolve, reject });
      this.#schedule();
    });
  }

  /** One turn of the event loop later, so that the requests of one socket read find each other. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= lookupsInFlightMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#waiting.splice(0, keysInLookupMax));
    });
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    assert(group.length > 0, 'a look-up is scheduled only when something waits');
    this.#inFlight += 1;
    if (this.#waiting.length > 0) this.#schedule();
    try {
      const rows = await this.#database.query<AnyRow>(this.#statement, [
        encodeArray(
          'text',
          group.map(({ orgId }) => orgId),
        ),
        encodeArray(
          'text',
          group.map(({ id }) => id),
        ),
      ]);
      const found = new Map(rows.map((row) => [`${row.orgId} ${row.id}`, row]));
      for (const { orgId, id, resolve } of group) resolve(found.get(`${orgId} ${id}`));
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#inFlight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}
