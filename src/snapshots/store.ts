import type { Database } from '../db/database.ts';
import { allOrganizations, atOneMoment, type ExportSettings, exportOrganization } from './export.ts';
import { Forks } from './fork.ts';
import {
  type Arrive,
  type CheckBooks,
  type Imported,
  importOrganization,
  type NumberedLine,
} from './import.ts';

/** Whole organizations: the engine's, because it is the only writer, and apart from it, because no command asks. */
export class SnapshotStore {
  readonly #database: Database;
  readonly #checkBooks: CheckBooks;
  readonly #forks: Forks;

  constructor(database: Database, checkBooks: CheckBooks) {
    this.#database = database;
    this.#checkBooks = checkBooks;
    this.#forks = new Forks(database);
  }

  /** Hands the lines to `write`, which must wait for nobody but itself: the database waits for it. */
  give<Result>(
    orgId: string,
    settings: ExportSettings,
    write: (lines: AsyncIterable<string>) => Promise<Result>,
  ): Promise<Result> {
    return atOneMoment(this.#database, (connection) =>
      write(exportOrganization(connection, orgId, settings)),
    );
  }

  /** All there are, one behind the other, as they are at one moment. */
  async giveAll(
    settings: ExportSettings,
    write: (lines: AsyncIterable<string>) => Promise<void>,
  ): Promise<number> {
    return atOneMoment(this.#database, async (connection) => {
      const orgIds = await allOrganizations(connection);
      async function* all() {
        for (const orgId of orgIds) yield* exportOrganization(connection, orgId, settings);
      }
      await write(all());
      return orgIds.length;
    });
  }

  fork(orgId: string, arrive: Arrive): Promise<Imported | undefined> {
    return this.#forks.fork(orgId, arrive);
  }

  take(lines: AsyncIterable<NumberedLine>, arrive: Arrive): Promise<Imported> {
    return importOrganization(this.#database, lines, arrive, this.#checkBooks);
  }
}
