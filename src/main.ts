import { readFile } from 'node:fs/promises';
import {
  CommandProblem,
  type DatabaseFindings,
  type DatabaseOptions,
  fail,
  inspectWith,
  type MigrationReport,
  migrateWith,
  openExisting,
  whereData,
} from './admin/database.ts';
import { createLink, type LinkOptions } from './admin/users.ts';
import { headsText, parseHeads, type Verification, verificationText, verify } from './admin/verify.ts';
import { type Config, ConfigProblem, readConfig } from './config.ts';
import type { Database } from './db/database.ts';
import { pendingMigrations } from './db/migrate.ts';
import type { EarlyStart } from './start/early-start.ts';
import { explain } from './start/explain.ts';
import { start } from './start/start.ts';

/**
 * The commands that open the database themselves, for the command line. Each fails with a `ConfigProblem` (an invalid setting) or a
 * `CommandProblem`, whose message a person can act on.
 */
export function startServer(config: Config, early: EarlyStart | undefined): Promise<void> {
  return start(config, early).catch(rethrowExplained);
}

/** `sandbank migrate`. */
export function migrateDatabase(
  options: DatabaseOptions & { readonly isDryRun: boolean },
): Promise<MigrationReport> {
  return migrateWith(options).catch(rethrowExplained);
}

/** `sandbank doctor`: the state of the database. */
export function inspectDatabase(options: DatabaseOptions): Promise<DatabaseFindings> {
  return inspectWith(options).catch(rethrowExplained);
}

/** `sandbank users`: a link for the console. */
export function createConsoleLink(options: LinkOptions): Promise<string> {
  return createLink(options).catch(rethrowExplained);
}

export interface VerifyReport extends Verification {
  /** The result as text. */
  readonly text: string;
  /** The last seal of each audit trail, one per line. */
  readonly headLines: string;
}

/** `sandbank verify`. `heads` is the path of a file that `--print-heads` wrote. */
export function verifyDatabase(
  options: DatabaseOptions & { readonly heads: string | undefined },
): Promise<VerifyReport> {
  return verifyWith(options).catch(rethrowExplained);
}

async function verifyWith({
  data,
  env,
  heads: file,
}: DatabaseOptions & { readonly heads: string | undefined }): Promise<VerifyReport> {
  const config = readConfig({ data }, env, 'inspect');
  // Read the file first, so that a mistake in it is reported before the database is opened.
  const expectedHeads = file === undefined ? [] : await readHeads(file);
  const verification = await verifyAndClose(await openExisting(config, fail), expectedHeads);
  return {
    ...verification,
    text: `${whereData(config)}: ${verificationText(verification)}`,
    headLines: headsText(verification.heads),
  };
}

async function readHeads(file: string): Promise<Verification['heads']> {
  const heads = parseHeads(await readFile(file, 'utf8'));
  if (heads === undefined || heads.length === 0)
    throw new CommandProblem(`${file} does not contain the lines that "verify --print-heads" prints.`);
  return heads;
}

async function verifyAndClose(
  database: Database,
  expectedHeads: Verification['heads'],
): Promise<Verification> {
  try {
    const pending = await pendingMigrations(database);
    if (pending.length > 0)
      throw new CommandProblem(
        `The database lacks the migrations ${pending.join(', ')}: run "sandbank migrate", then verify again.`,
      );
    return await verify(database, Date.now(), expectedHeads);
  } finally {
    await database.close();
  }
}

function rethrowExplained(error: unknown): never {
  throw error instanceof ConfigProblem ? error : new CommandProblem(explain(error));
}
