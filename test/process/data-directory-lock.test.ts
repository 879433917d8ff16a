import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DataDirectoryLocked, lockDataDirectory } from '../../src/db/data-directory-lock.ts';
import { built } from '../../src/local/paths.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandbank-lock-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  return directory;
}

/** A process that locks every directory that it reads from stdin. It runs the built module: compiling it in twenty processes cost ten seconds. */
interface Locker {
  readonly process: ChildProcess;
  readonly pid: number;
  lock(directory: string): Promise<string>;
  /** Resolves when its output ends, as it does when it is killed. */
  silence(): Promise<unknown>;
}

const lockerSource = `
  import { createInterface } from 'node:readline';
  import { lockDataDirectory } from ${JSON.stringify(new URL('src/data-directory-lock.js', built).href)};
  console.log(process.pid);
  for await (const directory of createInterface({ input: process.stdin })) {
    const answer = await lockDataDirectory(directory).then(() => 'locked', (error) => error.name + ': ' + error.message);
    console.log(answer);
  }`;
const lockerCommand = [process.execPath, '--input-type=module', '--eval', lockerSource];

async function startLocker(before: readonly string[] = []): Promise<Locker> {
  const [command = '', ...args] = [...before, ...lockerCommand];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  cleanups.push(() => stop(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  return {
    process: child,
    pid: Number(await nextLine()),
    lock(directory) {
      child.stdin.write(`${directory}\n`);
      return nextLine();
    },
    silence: () => lines.next(),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const lockFile = (directory: string): string => join(directory, 'lock');
const otherHolder = { pid: process.pid, startedAt: 'another start', host: hostname() };

async function writeLock(path: string, content: unknown): Promise<void> {
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
}

describe('a free directory', () => {
  it('is locked by a file that names the process, and is free again after release', async () => {
    const directory = await newDirectory();
    const lock = await lockDataDirectory(directory);
    const holder = JSON.parse(await readFile(lockFile(directory), 'utf8'));
    expect(holder).toEqual({ pid: process.pid, startedAt: expect.any(String), host: hostname() });

    await lock.release();
    expect(await readdir(directory)).toEqual([]);
    await (await lockDataDirectory(directory)).release();
  });

  it('is locked on a disk without links too', async () => {
    vi.doMock('node:fs/promises', async (original) => ({
      ...(await original<object>()),
      link: () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' })),
    }));
    vi.resetModules();
    const linkless = await import('../../src/db/data-directory-lock.ts');
    vi.doUnmock('node:fs/promises');

    const directory = await newDirectory();
    const lock = await linkless.lockDataDirectory(directory);
    await expect(linkless.lockDataDirectory(directory)).rejects.toThrow(`process ${process.pid}`);
    expect(await readdir(directory)).toEqual(['lock']);
    await lock.release();
  });
});

describe('a held lock', () => {
  it('rejects another process and names the directory, the pid and the fix', async () => {
    const directory = await newDirectory();
    const first = await startLocker();
    const second = await startLocker();
    expect(await first.lock(directory)).toBe('locked');
    expect(await second.lock(directory)).toBe(
      `DataDirectoryLocked: The data directory ${directory} is in use by process ${first.pid}; stop that process or choose another directory.`,
    );
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it('rejects a second open in the same process', async () => {
    const directory = await newDirectory();
    await lockDataDirectory(directory);
    await expect(lockDataDirectory(directory)).rejects.toThrow(DataDirectoryLocked);
  });

  it('counts as held while its process is only stopped', async () => {
    const directory = await newDirectory();
    const first = await startLocker();
    await first.lock(directory);
    first.process.kill('SIGSTOP');
    await expect(lockDataDirectory(directory)).rejects.toThrow(`process ${first.pid}`);
  });

  it('counts as held when the start time of a running process is unknown', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), { pid: process.ppid, startedAt: null });
    await expect(lockDataDirectory(directory)).rejects.toThrow(`process ${process.ppid}`);
  });

  it('is never taken over from another host, whose processes cannot be seen', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), { pid: 7, startedAt: 'long ago', host: 'elsewhere' });
    await expect(lockDataDirectory(directory)).rejects.toThrow(
      /is locked by process 7 on the host elsewhere, .* delete .*lock when you know that it has ended\.$/,
    );
  });
});

describe('a stale lock is taken over', () => {
  it('from a process that was killed', async () => {
    const directory = await newDirectory();
    const first = await startLocker();
    await first.lock(directory);
    await stop(first.process);

    await lockDataDirectory(directory);
    expect(JSON.parse(await readFile(lockFile(directory), 'utf8'))).toMatchObject({ pid: process.pid });
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it.skipIf(process.platform === 'win32')('from a zombie that its parent never reaped', async () => {
    const directory = await newDirectory();
    // The shell starts the locker in the background and then becomes `sleep`, which never waits for children.
    const withoutReaping = ['sh', '-c', 'exec 3<&0; "$@" <&3 & exec sleep 600 >&2', 'sh'];
    const zombie = await startLocker(withoutReaping);
    expect(await zombie.lock(directory)).toBe('locked');
    expect(zombie.pid).not.toBe(zombie.process.pid);

    process.kill(zombie.pid, 'SIGKILL');
    await zombie.silence();
    // Its pipes close just before it becomes a zombie, and only the process table shows when it has.
    await vi.waitUntil(async () => (await stateOf(zombie.pid)).startsWith('Z'));
    expect(process.kill(zombie.pid, 0)).toBe(true);

    await lockDataDirectory(directory);
    expect(JSON.parse(await readFile(lockFile(directory), 'utf8'))).toMatchObject({ pid: process.pid });
  });

  it('from an earlier process whose pid was reused', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), otherHolder);
    await lockDataDirectory(directory);
    await expect(lockDataDirectory(directory)).rejects.toThrow(DataDirectoryLocked);
  });

  it.each([
    '',
    'not json',
    '{"pid":',
    'null',
    '{}',
    '{"pid":0,"startedAt":null}',
    '{"pid":-1,"startedAt":null}',
    '{"pid":1e10,"startedAt":null}',
    '{"pid":1,"startedAt":5}',
  ])('from a file that says only %j, once it is too old to be half written', async (garbage) => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), garbage);
    await expect(lockDataDirectory(directory)).rejects.toThrow('try again in a few seconds');
    const minuteAgo = new Date(Date.now() - 60_000);
    await utimes(lockFile(directory), minuteAgo, minuteAgo);
    await lockDataDirectory(directory);
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it('although an earlier take-over was killed midway, twice', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), otherHolder);
    await writeLock(`${lockFile(directory)}.takeover`, otherHolder);
    await writeLock(`${lockFile(directory)}.takeover.takeover`, otherHolder);
    await lockDataDirectory(directory);
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it('but not while another process is taking it over', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), otherHolder);
    await writeLock(`${lockFile(directory)}.takeover`, { pid: process.ppid, startedAt: null });
    await expect(lockDataDirectory(directory)).rejects.toThrow(`process ${process.ppid}`);
    expect(JSON.parse(await readFile(lockFile(directory), 'utf8'))).toEqual(otherHolder);
  });

  it('by exactly one of twenty processes, also when a take-over was killed midway', async () => {
    const lockers = await Promise.all(Array.from({ length: 20 }, () => startLocker()));
    for (let round = 0; round < 30; round += 1) {
      const directory = await newDirectory();
      await writeLock(lockFile(directory), otherHolder);
      if (round % 2 === 1) await writeLock(`${lockFile(directory)}.takeover`, otherHolder);

      const answers = await Promise.all(lockers.map((locker) => locker.lock(directory)));
      const winners = lockers.filter((_, i) => answers[i] === 'locked');
      expect(winners).toHaveLength(1);
      expect(answers.filter((answer) => answer.startsWith('DataDirectoryLocked: '))).toHaveLength(19);
      expect(JSON.parse(await readFile(lockFile(directory), 'utf8'))).toMatchObject({ pid: winners[0]?.pid });
      expect(await readdir(directory)).toEqual(['lock']);
    }
  });

  it('by exactly one of many opens in one process', async () => {
    const directory = await newDirectory();
    await writeLock(lockFile(directory), otherHolder);
    const opens = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDirectory(directory)));
    expect(opens.filter((open) => open.status === 'fulfilled')).toHaveLength(1);
  });
});

describe('release', () => {
  it('can be called again without effect on the next holder', async () => {
    const directory = await newDirectory();
    const first = await lockDataDirectory(directory);
    await Promise.all([first.release(), first.release()]);
    await lockDataDirectory(directory);
    await first.release();
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it('leaves a lock that another process has taken over', async () => {
    const directory = await newDirectory();
    const lock = await lockDataDirectory(directory);
    await writeLock(lockFile(directory), otherHolder);
    await lock.release();
    expect(JSON.parse(await readFile(lockFile(directory), 'utf8'))).toEqual(otherHolder);
  });

  it('succeeds when the file is already gone', async () => {
    const directory = await newDirectory();
    const lock = await lockDataDirectory(directory);
    await rm(lockFile(directory));
    await expect(lock.release()).resolves.toBeUndefined();
  });
});

async function stateOf(pid: number): Promise<string> {
  // Slim images have no ps.
  if (process.platform === 'linux')
    return (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1) ?? '';
  const ps = spawn('ps', ['-o', 'stat=', '-p', String(pid)]);
  let output = '';
  for await (const chunk of ps.stdout) output += String(chunk);
  return output.trim();
}
