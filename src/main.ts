import { readFile } from 'node:fs/promises';
import { keepDemoKey, readDemoKey, removeCliFile, writeCliFile } from './cli-file.ts';
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
import { DataDirectoryLocked } from './db/data-directory-lock.ts';
import type { Database } from './db/database.ts';
import { MigrationChanged, MigrationStuck, pendingMigrations } from './db/migrate.ts';
import { VaultProblem } from './engine/vault.ts';
import { scopes } from './kernel/scopes.ts';
import { packageVersion } from './places.ts';
import { findAnyKey } from './resources/api-keys/store.ts';
import { findOrganizations } from './resources/organizations/store.ts';
import { applySeed, readSeed, type Seed, SeedProblem } from './seed.ts';
import { createServer, type Server } from './server.ts';
import { exportFile, importFile, SnapshotFileProblem } from './snapshot-files.ts';
import { usage } from './usage.ts';
import { ownerLink, usersCommand } from './users-command.ts';
import { headsText, parseHeads, type Verification, verificationText, verify } from './verify.ts';
import { webhooksCommand } from './webhooks-command.ts';
import { newApiKey } from './workers/console-errands.ts';

/** Starts Sandbank. What a person can mend is said in one sentence, without a stack trace. */
export async function main(argv: readonly string[], opening?: Promise<Database>): Promise<void> {
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
    else await run(config, opening);
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

async function run(config: Config, opening: Promise<Database> | undefined): Promise<void> {
  const startedAt = performance.now();
  // Read first: a mistake in the seed file is told before anything is opened or made.
  const seed = config.seedFile === undefined ? undefined : await readSeed(config.seedFile);
  // What goes wrong with the routes when they are made ready, `listen` tells.
  const server = await createServer(config, fail, opening, (app) => app.ready(() => undefined));
  try {
    const secrets = seed ? await applySeed(seed, server, server.wallClock) : [];
    const { importFile: file, exportFile: exportedTo } = config;
    const imported = file === undefined ? [] : await importFile(server, file, exportedTo);
    const demoKey = seed || config.databaseUrl !== undefined ? undefined : await makeDemo(server);
    const known = await findAnyKey(server.reader);
    const address = await server.listen();
    closeOnSignal(server, config);
    await noteForCli(server, config, address, demoKey);
    const isDemo = !seed && config.databaseUrl === undefined;
    const [demo] = isDemo ? await findOrganizations(server.reader, demoName) : [];
    const link =
      demo?.owners === 0
        ? await ownerLink(server, demo.id, config.publicUrl ?? address, server.wallClock)
        : undefined;
    server.app.log.info(
      {
        version: packageVersion(),
        role: config.role,
        address: `${address}/`,
        database: server.database.kind,
        migrations: server.migrated,
        durationMs: Math.round(performance.now() - startedAt),
      },
      'started',
    );
    const words = [banner(config, address, link, demoKey, known?.lastFour), ...imported];
    if (speaksPlainly(config)) console.log(words.join('\n'));
    else for (const line of imported) server.app.log.info(line.trim());
    for (const { url, secret } of secrets)
      console.log(`The secret of the webhook ${url}, shown only now: ${secret}\n`);
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** To a person at a terminal, and where nothing else would say it. Of a shared server's output every line is one of the log. */
function speaksPlainly({ databaseUrl, logLevel }: Config): boolean {
  return databaseUrl === undefined || process.stdout.isTTY || !['info', 'debug', 'trace'].includes(logLevel);
}

/** Beside an embedded database, so that the command line works without settings. */
async function noteForCli(
  { operatorToken }: Server,
  { dataDirectory }: Config,
  url: string,
  madeKey: string | undefined,
): Promise<void> {
  if (dataDirectory === undefined) return;
  if (madeKey !== undefined) await keepDemoKey(dataDirectory, madeKey);
  const apiKey = madeKey ?? (await readDemoKey(dataDirectory));
  await writeCliFile(dataDirectory, { url, operatorToken, apiKey });
}

const demoName = 'Demo';

/** A first start without a seed gets an organization to play with. Its key is shown once and kept as a hash. */
async function makeDemo(server: Server): Promise<string | undefined> {
  if (await findAnyKey(server.reader)) return undefined;
  const { key } = newApiKey();
  const seed: Seed = {
    organizations: [
      {
        name: demoName,
        applications: [
          { name: 'demo', apiKeys: [{ name: 'demo', key, scopes: [...scopes], mayReset: true }] },
        ],
      },
    ],
  };
  await applySeed(seed, server, server.wallClock);
  return key;
}

function banner(
  config: Config,
  address: string,
  link: string | undefined,
  demoKey: string | undefined,
  lastFour: string | undefined,
): string {
  const lines = [
    '',
    'Sandbank is running. Sandbox only: no real money moves.',
    '',
    `  API      ${address}/_api`,
    `  Docs     ${address}/docs`,
    `  Console  ${address}/console`,
    `  Data     ${whereData(config)}`,
    '',
  ];
  if (link !== undefined)
    lines.push(
      'Nobody has joined the organization Demo yet. This link makes you its owner:',
      '',
      `  ${link}`,
      '',
    );
  if (demoKey !== undefined) {
    lines.push(
      'Demo key, shown only now:',
      '',
      `  ${demoKey}`,
      '',
      'Try it:',
      '',
      `  curl ${address}/_api/developer_api_payments -H "Authorization: Bearer ${demoKey}" -H "Idempotency-Key: first-payment" -H "Content-Type: application/json" -d '{"amount":1250,"currency":"EUR"}'`,
      '',
    );
  } else if (lastFour === undefined) {
    lines.push(
      'There is no API key yet. Make one in the console, or declare one in a seed file and start with --seed FILE.',
      '',
    );
  } else if (config.seedFile === undefined && config.databaseUrl === undefined) {
    lines.push(
      `The key ending in ${lastFour} was shown at the first start. If it is lost, make another one in the console.`,
      '',
    );
  }
  return lines.join('\n');
}

/** The first signal closes in order; a second one does not wait. */
function closeOnSignal(server: Server, { exportFile: file, dataDirectory }: Config): void {
  let isClosing = false;
  const { log } = server.app;
  const onSignal = (signal: NodeJS.Signals) => {
    if (isClosing) {
      log.warn({ signal }, 'stopped at once, because it was told twice');
      process.exit(1);
    }
    isClosing = true;
    const startedAt = performance.now();
    log.info({ signal }, 'stopping: requests under way are answered, new ones are not taken');
    const last = async () => {
      if (dataDirectory !== undefined) await removeCliFile(dataDirectory);
      if (file !== undefined) await exportFile(server, file);
    };
    server.close(last).then(
      () => {
        log.info({ signal, durationMs: Math.round(performance.now() - startedAt) }, 'stopped');
        process.exit(0);
      },
      (error: unknown) => {
        console.error(`Sandbank did not close cleanly. ${explain(error)}`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

function explain(error: unknown): string {
  const isKnown =
    error instanceof ConfigProblem ||
    error instanceof SeedProblem ||
    error instanceof SnapshotFileProblem ||
    error instanceof DataDirectoryLocked ||
    error instanceof MigrationChanged ||
    error instanceof MigrationStuck ||
    error instanceof VaultProblem;
  if (isKnown) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, port, syscall, severity } = error as NodeJS.ErrnoException & {
    port?: number;
    severity?: string;
  };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: stop what listens there, or choose another with --port.`;
  if (syscall !== undefined) return `The system refused it: ${error.message}.`;
  if (error.name === 'DatabaseFailure' || severity !== undefined)
    return `The database cannot be used: ${error.message}.`;
  return error.stack ?? error.message;
}
