import { readFile } from 'node:fs/promises';
import { type Command, type Config, ConfigProblem, type HeadsAsked, readConfig } from './config.ts';
import {
  type DatabaseAsked,
  type DatabaseFindings,
  fail,
  inspectWith,
  type MigrationReport,
  migrateWith,
  openExisting,
  whereData,
} from './database-command.ts';
import type { Database } from './db/database.ts';
import { pendingMigrations } from './db/migrate.ts';
import type { EarlyStart } from './early-start.ts';
import { explain } from './explain.ts';
import { packageVersion } from './places.ts';
import { start } from './start.ts';
import { usage } from './usage.ts';
import { usersCommand } from './users-command.ts';
import { headsText, parseHeads, type Verification, verificationText, verify } from './verify.ts';
import { webhooksCommand } from './webhooks-command.ts';

/** The commands of the server itself. What a person can fix is reported in one sentence, without a stack trace. */
export async function main(argv: readonly string[], early?: EarlyStart): Promise<void> {
  let name: Command | 'users' | 'webhooks' = 'start';
  try {
    if (argv[0] === 'webhooks') {
      name = 'webhooks';
      const { output, isValid } = await webhooksCommand(argv.slice(1), process.env, process.stdin);
      console.log(output);
      if (!isValid) process.exitCode = 1;
      return;
    }
    if (argv[0] === 'users') {
      name = 'users';
      return console.log(await usersCommand(argv.slice(1), process.env));
    }
    const invocation = readConfig(argv, process.env);
    if ('show' in invocation) return console.log(invocation.show === 'help' ? usage : packageVersion());
    const { command, config, isJson, heads } = invocation;
    name = command;
    if (command === 'verify') await check(config, isJson, heads);
    else await start(config, early);
  } catch (error) {
    const what = failures[name];
    console.error(`${what}. ${explain(error)}`);
    process.exitCode = 1;
  }
}

/** `sandbank migrate`. What goes wrong is one sentence. */
export function migrateDatabase(
  asked: DatabaseAsked & { readonly isLook: boolean },
): Promise<MigrationReport> {
  return migrateWith(asked).catch(rethrowExplained);
}

/** What `sandbank doctor` asks of the database. */
export function inspectDatabase(asked: DatabaseAsked): Promise<DatabaseFindings> {
  return inspectWith(asked).catch(rethrowExplained);
}

function rethrowExplained(error: unknown): never {
  throw new ConfigProblem(explain(error));
}

const failures = {
  start: 'Sandbank did not start',
  verify: 'Nothing was verified',
  webhooks: 'Nothing was verified',
  users: 'No link was made',
} as const;

/** `sandbank verify`: says whether the books are sound, also by its exit code. */
async function check(config: Config, isJson: boolean, asked: HeadsAsked): Promise<void> {
  // Read first: a mistake in the file is told before anything is opened.
  const noted = asked.file === undefined ? [] : await readHeads(asked.file);
  const verification = await verifyAndClose(await openExisting(config, fail), noted);
  const { isSound, looked, checks, heads } = verification;
  if (isJson) {
    console.log(
      JSON.stringify({
        object: 'verification',
        sandbox: true,
        status: isSound ? 'sound' : 'different',
        looked,
        checks,
        heads,
      }),
    );
  } else if (!asked.isPrint) {
    console.log(`${whereData(config)}: ${verificationText(verification)}`);
  } else if (isSound) {
    console.log(headsText(heads));
  } else {
    // A head of books that are not sound is worth nothing: the words go where a file would not get them.
    console.error(verificationText(verification));
  }
  if (!isSound) process.exitCode = 1;
}

async function readHeads(file: string): Promise<Verification['heads']> {
  const heads = parseHeads(await readFile(file, 'utf8'));
  if (heads === undefined || heads.length === 0)
    throw new ConfigProblem(`${file} does not hold the lines that "verify --print-heads" prints.`);
  return heads;
}

async function verifyAndClose(database: Database, noted: Verification['heads']): Promise<Verification> {
  try {
    const pending = await pendingMigrations(database);
    if (pending.length > 0)
      throw new ConfigProblem(
        `The database lacks the migrations ${pending.join(', ')}: start the server on it once, then verify.`,
      );
    return await verify(database, Date.now(), noted);
  } finally {
    await database.close();
  }
}
