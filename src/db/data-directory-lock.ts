import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface DataDirectoryLock {
  /** Releases the directory. May be called more than once. */
  release(): Promise<void>;
}

export class DataDirectoryLocked extends Error {
  override readonly name = 'DataDirectoryLocked';
}

/** The content of the lock file: the process that holds it. */
interface Holder {
  readonly pid: number;
  /** Distinguishes this process from a later one with the same pid; null where the system does not provide it. */
  readonly startedAt: string | null;
  readonly host?: string;
}

type Verdict =
  | { readonly status: 'absent' }
  | { readonly status: 'stale' }
  | { readonly status: 'held'; readonly message: string };

const attemptsMax = 10;
const takeoversNestedMax = 4;
const halfWrittenMs = 5_000;

/**
 * Locks a data directory, which must exist, for this process. Node has no flock, so the lock is a file that names
 * its holder, and it remains when its holder is killed: then it is stale, and the next process takes it over.
 *
 * A lock file is absent, held or stale. It becomes held from absent by an exclusive create, and from stale by a
 * rename over it; it becomes stale when its holder dies and absent when its holder releases it. Of all processes
 * that see a stale lock, only the one that holds `lock.takeover` may rename over it, and only after it has judged
 * the lock again. Removing a stale lock and then creating a new one was rejected: between the two, a slow process
 * could remove the new lock of a fast one, and both would run. `lock.takeover` may itself become stale, so it is
 * claimed by the same rules.
 */
export async function lockDataDirectory(directory: string): Promise<DataDirectoryLock> {
  const path = join(resolve(directory), 'lock');
  const startedAt = (await inspect(process.pid))?.startedAt ?? null;
  const holder: Holder = { pid: process.pid, startedAt, host: hostname() };
  const content = JSON.stringify(holder);
  await claim(path, content, 0);

  let released: Promise<void> | undefined;
  return {
    release() {
      released ??= removeIfOurs(path, content);
      return released;
    },
  };
}

async function claim(path: string, content: string, takeoversNested: number): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (await create(path, content)) return;
    const verdict = await judge(path);
    if (verdict.status === 'held') throw new DataDirectoryLocked(verdict.message);
    if (verdict.status === 'stale' && (await takeOver(path, content, takeoversNested + 1))) return;
    // Its holder released it between our two reads, so it may be free now.
  }
  throw new DataDirectoryLocked(`Several processes compete for the lock ${path}; start only one of them.`);
}

async function takeOver(path: string, content: string, takeoversNested: number): Promise<boolean> {
  if (takeoversNested > takeoversNestedMax) {
    throw new DataDirectoryLocked(
      `The lock ${path} and its takeover locks are stale; delete them and start again.`,
    );
  }
  const mutex = `${path}.takeover`;
  await claim(mutex, content, takeoversNested);
  try {
    // Another process may have taken the lock over before we held the mutex.
    const verdict = await judge(path);
    if (verdict.status === 'held') throw new DataDirectoryLocked(verdict.message);
    if (verdict.status === 'absent') return false;
    // From here on only this process changes the lock: its holder is dead and we hold the mutex.
    await replace(path, content);
    return true;
  } finally {
    await removeIfOurs(mutex, content);
  }
}

/** Creates the file atomically: a link appears with its content, unlike a file that is opened and then written. */
async function create(path: string, content: string): Promise<boolean> {
  const draft = await writeDraft(path, content);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    // FAT and some network disks have no links. An exclusive create also has one winner, but others may read a partial file.
    return await createWithoutLink(path, content);
  } finally {
    await rm(draft, { force: true });
  }
}

async function createWithoutLink(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function replace(path: string, content: string): Promise<void> {
  const draft = await writeDraft(path, content);
  try {
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDraft(path: string, content: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, content, { flag: 'wx' });
  return draft;
}

async function removeIfOurs(path: string, content: string): Promise<void> {
  const found = await readIfPresent(path);
  if (found === content) await rm(path, { force: true });
}

async function judge(path: string): Promise<Verdict> {
  const text = await readIfPresent(path);
  if (text === undefined) return { status: 'absent' };
  const held = (what: string): Verdict => ({
    status: 'held',
    message: `The data directory ${dirname(path)} ${what}`,
  });

  const holder = parseHolder(text);
  if (holder === undefined) {
    if (await isOlderThan(path, halfWrittenMs)) return { status: 'stale' };
    return held('is being locked by a process that has not written its pid yet; try again in a few seconds.');
  }
  if (holder.host !== undefined && holder.host !== hostname()) {
    return held(
      `is locked by process ${holder.pid} on the host ${holder.host}, which cannot be checked from here; stop it there, or delete ${path} when you know that it has ended.`,
    );
  }
  const running = await inspect(holder.pid);
  if (running === undefined) return { status: 'stale' };
  // Where a start time is unknown, a running process with this pid counts as the holder.
  const isAnother =
    holder.startedAt !== null && running.startedAt !== null && holder.startedAt !== running.startedAt;
  if (isAnother) return { status: 'stale' };
  return held(`is in use by process ${holder.pid}; stop that process or choose another directory.`);
}

function parseHolder(text: string): Holder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isHolder(value) ? value : undefined;
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  if (!('pid' in value && 'startedAt' in value)) return false;
  const { pid, startedAt } = value;
  // Zero and negative numbers are process groups to kill(2).
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1 || pid > 0x7fffffff) return false;
  if (startedAt !== null && typeof startedAt !== 'string') return false;
  return !('host' in value) || typeof value.host === 'string';
}

/** The running process with this pid; undefined when there is none, or only a zombie. */
async function inspect(pid: number): Promise<{ readonly startedAt: string | null } | undefined> {
  const details = process.platform === 'linux' ? await inspectByProc(pid) : await inspectByPs(pid);
  if (!answersSignals(pid)) return undefined;
  if (details === undefined) return { startedAt: null };
  return /^[ZX]/.test(details.state) ? undefined : { startedAt: details.startedAt };
}

interface ProcessDetails {
  readonly state: string;
  readonly startedAt: string | null;
}

async function inspectByProc(pid: number): Promise<ProcessDetails | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTicks = fields[22 - 3];
  // Ticks count from boot, and a machine that always boots the same way can repeat them together with the pid.
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return {
    state: fields[0] ?? '',
    startedAt: startTicks === undefined ? null : `${startTicks}@${boot.trim()}`,
  };
}

async function inspectByPs(pid: number): Promise<ProcessDetails | undefined> {
  try {
    // The caller's locale and time zone would change the format of the start time.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
      env,
    });
    const [state = '', ...start] = stdout.trim().split(/\s+/);
    return { state, startedAt: start.length === 0 ? null : start.join(' ') };
  } catch {
    return undefined;
  }
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is running and belongs to another user.
    return hasCode(error, 'EPERM');
  }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function isOlderThan(path: string, ageMs: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    // A clock that was set back leaves files with future timestamps; treat them as old.
    return Math.abs(Date.now() - mtimeMs) > ageMs;
  } catch (error) {
    // Removed since we read it: the takeover judges it again and finds it absent.
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
