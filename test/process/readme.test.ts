import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, testNodeArgs } from '../support/processes.ts';

const hasShell = ['bash', 'curl'].every((command) => spawnSync(command, ['--version']).status === 0);

describe.skipIf(!hasShell)('the five minutes of the README', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const command = join(root, 'scripts/sandbank.mjs');
  let directory: string;
  let receiver: ReturnType<typeof spawn>;
  let server: ReturnType<typeof spawn>;
  let heard = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-five-'));
  });
  afterAll(async () => {
    receiver?.kill('SIGKILL');
    server?.kill('SIGTERM');
    if (server && server.exitCode === null) await once(server, 'close');
    await rm(directory, { recursive: true, force: true });
  });

  test('lead from a start without settings to webhooks that are received', async () => {
    const [port, receiverPort] = [await freePort(), await freePort()];
    const program = (await readFile(join(root, 'docs/snippets/listen.mjs'), 'utf8')).replace(
      '9000',
      String(receiverPort),
    );
    const file = join(directory, 'listen.mjs');
    await writeFile(file, program);
    receiver = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    receiver.stdout?.on('data', (chunk: Buffer) => {
      heard += chunk.toString('utf8');
    });
    server = spawn(process.execPath, [...testNodeArgs, command, 'start', '--port', String(port)], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let banner = '';
    for await (const chunk of server.stdout ?? []) {
      banner += String(chunk);
      if (banner.includes('Create a payment:')) break;
    }
    server.stdout?.resume();
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const script = [...readme.matchAll(/```sh five\n([\s\S]*?)```/g)]
      .map(([, block = '']) => block)
      .join('\n')
      .replaceAll('npm run -s sandbank --', `${process.execPath} ${command}`)
      .replaceAll('9000', String(receiverPort));
    const shell = spawn('bash', ['-eu'], { cwd: directory });
    shell.stdin.end(script);
    const [out, errors, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ]);
    expect(code, `${out}\n${errors}`).toBe(0);
    // The fault plan has hit twice, and the command has tried again.
    expect(out).toMatch(/503.*service_unavailable/);
    expect(out).toMatch(/settled/);
    const types = [...heard.matchAll(/^(payment\.\w+) evt_/gm)].map(([, type]) => type);
    expect(new Set(types)).toEqual(new Set(['payment.created', 'payment.captured', 'payment.settled']));
  });
});
