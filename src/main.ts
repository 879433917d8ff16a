import { readFile } from 'node:fs/promises';
import {
  CommandProblem,
  type DatabaseAsked,
  type DatabaseFindings,
  fail,
  inspectWith,
  type MigrationReport,
  migrateWith,
  openExisting,
  whereData,
} from './admin/database.ts';
import { createLink, type LinkAsked } from './admin/users.ts';
import { headsText, parseHeads, type Verification, verificationText, verify } from './admin/verify.ts';
import { type Config, ConfigProblem, readConfig } from './config.ts';
import type { Database } from './db/database.ts';
import { pendingMigrations } from './db/migrate.ts';
import type { EarlyStart } from './start/early-start.ts';
import { explain } from './start/explain.ts';
import { start } from './start/start.ts';

export { examineSignature } from './delivery/signature-check.ts';

/**
 * The commands that open the database themselves, for the command line. Each fails with a `ConfigProblem` (an invalid setting) or a
 * `CommandProblem`, whose message a person can act on.
 */
export function startServer(config: Config, early: EarlyStart | undefined): Promise<void> {
  return start(config, early).catch(rethrowExplained);
}

/** `sandbank migrate`. */
export function migrateDatabase(
  asked: DatabaseAsked & { readonly isLook: boolean },
): Promise<MigrationReport> {
  return migrateWith(asked).catch(rethrowExplained);
}

/** `sandbank doctor`: the state of the database. */
export function inspectDatabase(asked: DatabaseAsked): Promise<DatabaseFindings> {
  return inspectWith(asked).catch(rethrowExplained);
}

/** `sandbank users`: a link for the console. */
export function createConsoleLink(asked: LinkAsked): Promise<string> {
  return createLink(asked).catch(rethrowExplained);
}

export interface VerifyReport extends Verification {
  /** The result for people. */
  readonly text: string;
  /** The last seal of each audit trail, a line each. */
  readonly headLines: string;
}

/** `sandbank verify`. `heads` names a file that `--print-heads` has written. */
export function verifyDatabase(
  asked: DatabaseAsked & { readonly heads: string | undefined },
): Promise<VerifyReport> {
  return verifyWith(asked).catch(rethrowExplained);
}

async function verifyWith({
  data,
  env,
  heads: file,
}: DatabaseAsked & { readonly heads: string | undefined }): Promise<VerifyReport> {
  const config = readConfig({ data }, env, 'inspect');
  // Read first: a mistake in the file is reported before the database is opened.
  const noted = file === undefined ? [] : await readHeads(file);
  const verification = await verifyAndClose(await openExisting(config, fail), noted);
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

async function verifyAndClose(database: Database, noted: Verification['heads']): Promise<Verification> {
  try {
    const pending = await pendingMigrations(database);
    if (pending.length > 0)
      throw new CommandProblem(
        `The database lacks the migrations ${pending.join(', ')}: run "sandbank migrate", then verify again.`,
      );
    return await verify(database, Date.now(), noted);
  } finally {
    await database.close();
  }
}

function rethrowExplained(error: unknown): never {
  throw error instanceof ConfigProblem ? error : new CommandProblem(explain(error));
}
