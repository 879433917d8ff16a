/** pgbouncer in front of one database of the test's PostgreSQL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { vi } from 'vitest';
import { createFolder, unprivilegedAccount } from '../../support/postgres.ts';
import { freePort } from '../../support/processes.ts';

const STEP_MS_MAX = 30_000;
/** Ends pgbouncer together with the process that started it, however that ends. */
const RUNNER = `
const [program, file] = process.argv.slice(1);
const child = require('node:child_process').spawn(program, [file], { stdio: ['ignore', 'inherit', 'inherit'] });
process.stdin.resume().on('close', () => child.kill('SIGKILL'));
child.on('error', (error) => { console.error(error); process.exit(1); });
child.on('exit', () => process.exit());`;

export type PoolMode = 'session' | 'transaction' | 'statement';

export interface Pooler {
  /** The URL of the database through pgbouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The settings are those of docs/SCALING.md. */
export async function openPooler(program: string, databaseUrl: string, mode: PoolMode): Promise<Pooler> {
  const account = unprivilegedAccount();
  const folder = createFolder(account);
  const database = new URL(databaseUrl);
  const name = database.pathname.slice(1);
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${name} = host=${database.hostname} port=${database.port} user=${database.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
ignore_startup_parameters = extra_float_digits
`,
  );
  if ('uid' in account) chownSync(file, account.uid, account.gid);
  const child = spawn(process.execPath, ['-e', RUNNER, '--', program, file], {
    ...account,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let logs = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logs += text;
  });
  const exit = once(child, 'exit');
  const stop = async () => {
    child.stdin.end();
    await exit;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await vi.waitUntil(() => accepts(port), { timeout: STEP_MS_MAX, interval: 20 });
  } catch (error) {
    await stop();
    throw new Error(`pgbouncer does not listen:\n${logs}`, { cause: error });
  }
  return { url: `postgres://${database.username}@127.0.0.1:${port}/${name}`, stop };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false));
  });
}
