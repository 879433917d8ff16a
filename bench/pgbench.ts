/** Runs the baseline with pgbench, the load tool of PostgreSQL. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Statement } from './baseline.ts';
import { type Measurement, percentile } from './measurement.ts';

export const BASELINE_CLIENTS = 16;
const THREADS = 2;
/** Logging every transaction would slow pgbench slightly; one in ten is enough for a p99. */
const LOG_SAMPLING = 0.1;
/** Large enough that no two runs in one database use the same number: 10 million transactions per client. */
const RUN_STRIDE = 10_000_000;
const FIRST_NUMBER = 6_250_000_000;

export interface Pgbench {
  readonly command: string;
  readonly version: string;
}

export function findPgbench(): Pgbench | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...postgresFolders()];
  for (const folder of folders) {
    const command = path.join(folder, process.platform === 'win32' ? 'pgbench.exe' : 'pgbench');
    if (folder === '' || !existsSync(command)) continue;
    return { command, version: execFileSync(command, ['--version'], { encoding: 'utf8' }).trim() };
  }
  return undefined;
}

function postgresFolders(): string[] {
  const folders: string[] = [];
  try {
    folders.push(
      execFileSync('pg_config', ['--bindir'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim(),
    );
  } catch {
    // Without pg_config, the usual folders below are searched.
  }
  for (const parent of [
    '/usr/lib/postgresql',
    '/opt/homebrew/opt',
    '/usr/local/opt',
    '/Library/PostgreSQL',
  ]) {
    if (!existsSync(parent)) continue;
    const versions = readdirSync(parent).filter((name) => /^(\d+|postgresql(@\d+)?|libpq)$/.test(name));
    folders.push(
      ...versions
        .sort()
        .reverse()
        .map((name) => path.join(parent, name, 'bin')),
    );
  }
  return folders;
}

export interface PgbenchRun {
  readonly databaseUrl: string;
  readonly statements: readonly Statement[];
  readonly seconds: number;
  /** Index of the run in its database. Each run uses a separate range of numbers. */
  readonly number: number;
  /** Folder for temporary files. */
  readonly folder: string;
}

export async function runPgbench(pgbench: Pgbench, run: PgbenchRun): Promise<Measurement> {
  const { script, definitions } = pgbenchScript(run.statements);
  const folder = mkdtempSync(path.join(run.folder, 'pgbench-'));
  const file = path.join(folder, 'create.sql');
  writeFileSync(file, script);
  const output = await execute(pgbench.command, [
    ...['-n', '-M', 'prepared', '-c', String(BASELINE_CLIENTS), '-j', String(THREADS)],
    ...['-T', String(run.seconds), '-f', file],
    ...['-l', '--log-prefix', path.join(folder, 'log'), '--sampling-rate', String(LOG_SAMPLING)],
    ...['-D', `n=${FIRST_NUMBER + run.number * RUN_STRIDE}`],
    ...definitions.flatMap((definition) => ['-D', definition]),
    run.databaseUrl,
  ]);
  const tps = /^tps = ([\d.]+)/m.exec(output)?.[1];
  if (tps === undefined) throw new Error(`pgbench did not print a rate:\n${output}`);
  const latenciesMs = readLatencies(folder);
  return {
    ratePerSecond: Number(tps),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  };
}

/** Variables persist per client, so `n` counts its transactions; combined with the client number it is unique. */
function pgbenchScript(statements: readonly Statement[]): { script: string; definitions: string[] } {
  const definitions: string[] = [];
  const lines = [
    '\\set n :n + 1',
    `\\set number :n * ${BASELINE_CLIENTS} + :client_id`,
    '\\set random random(10000000000, 99999999999)',
    'begin;',
  ];
  for (const { sql, parameters } of statements) {
    const names = parameters.map((parameter) => {
      if (parameter.kind !== 'copied') return parameter.kind;
      definitions.push(`v${definitions.length}=${parameter.text}`);
      return `v${definitions.length - 1}`;
    });
    lines.push(`${sql.replace(/\$(\d+)/g, (_, position: string) => `:${names[Number(position) - 1]}`)};`);
  }
  return { script: `${[...lines, 'commit;'].join('\n')}\n`, definitions };
}

async function execute(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  // When a client fails, pgbench continues with the others; a result with fewer clients would be misleading.
  if (code !== 0) throw new Error(`pgbench failed with code ${code}:\n${stderr}`);
  return stdout;
}

/** Log line format: client, transaction, microseconds, script, time. */
function readLatencies(folder: string): number[] {
  const logs = readdirSync(folder).filter((name) => name.startsWith('log.'));
  const lines = logs.flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n'));
  return lines.map((line) => Number(line.split(' ')[2]) / 1000);
}
