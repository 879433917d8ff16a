import type { Database } from '../db/database.ts';
import { allOrganizations, type ExportSettings, exportOrganization, inReadSnapshot } from './export.ts';
import { Forks } from './fork.ts';
import {
  type CheckBooks,
  type Imported,
  importOrganization,
  type NumberedLine,
  type PlanImport,
} from './import.ts';
import type { Replaced } from './replacement.ts';

/** Reads and writes whole organizations. It is separate from the engine because no command does this. */
export class SnapshotStore {
  readonly #database: Database;
  readonly #checkBooks: CheckBooks;
  readonly #forks: Forks;

  constructor(database: Database, checkBooks: CheckBooks) {
    this.#database = database;
    this.#checkBooks = checkBooks;
    this.#forks = new Forks(database);
  }

  /** Passes the lines to `write`, which must be fast, because the transaction stays open meanwhile. */
  export<Result>(
    orgId: string,
    settings: ExportSettings,
    write: (lines: AsyncIterable<string>) => Promise<Result>,
  ): Promise<Result> {
    return inReadSnapshot(this.#database, (connection) =>
      write(exportOrganization(connection, orgId, settings)),
    );
  }

  /** Exports all organizations in one consistent state. */
  async exportAll(
    settings: ExportSettings,
    write: (lines: AsyncIterable<string>) => Promise<void>,
  ): Promise<number> {
    return inReadSnapshot(this.#database, async (connection) => {
      const orgIds = await allOrganizations(connection);
      async function* all() {
        for (const orgId of orgIds) yield* exportOrganization(connection, orgId, settings);
      }
      await write(all());
      return orgIds.length;
    });
  }

  fork(orgId: string, plan: PlanImport): Promise<Imported | undefined> {
    return this.#forks.fork(orgId, plan);
  }

  importLines(lines: AsyncIterable<NumberedLine>, plan: PlanImport, replaced?: Replaced): Promise<Imported> {
    return importOrganization(this.#database, lines, plan, this.#checkBooks, replaced);
  }
}
