// A lock between processes that prepare the same checkout, for example two terminals.
//
// The lock is a directory with one file, named after its owner. Both ways to acquire it are a single rename, so exactly one
// process wins: a directory with our name is moved into place (which fails while another one exists), or the file of a dead
// owner is renamed to ours. The owner touches its file every second. It counts as dead when its process no longer exists, or
// when its file has not changed for `silenceMsMax`: that covers a reused process id, a zombie, and a container that shares the
// folder but not the process table.
import fs from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 200;
const heartbeatMs = 1_000;
const silenceMsMax = 15_000;
const waitMsMax = 15 * 60_000;

/**
 * Runs `work` while holding the lock. `work` receives a function that throws if another process has taken over the lock.
 * @template T
 * @param {string} directory
 * @param {(assertHeld: () => void) => Promise<T>} work
 * @param {() => void} onWait called once, when another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(directory, work, onWait) {
  const own = path.join(directory, `${hostname()}@${process.pid}`);
  await acquire(directory, own, onWait);
  const heartbeat = setInterval(() => touch(own), heartbeatMs);
  try {
    return await work(() => {
      if (!fs.existsSync(own)) throw new Error('Another process took over the build. Run the command again.');
    });
  } finally {
    clearInterval(heartbeat);
    release(directory, own);
  }
}

/** @param {string} directory @param {string} own @param {() => void} onWait */
async function acquire(directory, own, onWait) {
  const candidate = `${directory}.${process.pid}`;
  const startedAt = Date.now();
  let seen = { sign: '', at: 0 };
  for (let round = 0; Date.now() - startedAt < waitMsMax; round += 1) {
    if (tryMoveIn(candidate, directory, path.basename(own))) return;

    const holder = readHolder(directory);
    if (holder !== undefined) {
      if (holder.sign !== seen.sign) seen = { sign: holder.sign, at: Date.now() };
      const dead = isGone(holder.name) || Date.now() - seen.at > silenceMsMax;
      if (dead && tryRename(path.join(directory, holder.name), own)) return;
      if (round === 0) onWait();
    }
    await delay(pollMs);
  }
  throw new Error(`Another process holds ${directory} for too long. If none is running, delete that folder.`);
}

/** @param {string} candidate @param {string} directory @param {string} owner */
function tryMoveIn(candidate, directory, owner) {
  fs.mkdirSync(candidate, { recursive: true });
  fs.writeFileSync(path.join(candidate, owner), '');
  const won = tryRename(candidate, directory);
  if (!won) fs.rmSync(candidate, { recursive: true, force: true });
  return won;
}

/** @param {string} directory @param {string} own */
function release(directory, own) {
  // Not a recursive delete: between the two calls another process may move its own lock onto the empty directory.
  try {
    fs.unlinkSync(own);
    fs.rmdirSync(directory);
  } catch {
    // Another process has the lock already, so it must not be removed here.
  }
}

/** @param {string} directory */
function readHolder(directory) {
  try {
    const name = fs.readdirSync(directory)[0];
    if (name === undefined) {
      fs.rmdirSync(directory);
      return undefined;
    }
    return { name, sign: `${name} ${fs.statSync(path.join(directory, name)).mtimeMs}` };
  } catch {
    return undefined;
  }
}

/** Whether the owner ran on this machine and its process no longer exists. @param {string} name */
function isGone(name) {
  const at = name.lastIndexOf('@');
  const pid = Number(name.slice(at + 1));
  if (name.slice(0, at) !== hostname()) return false;
  // Our own process id on a lock we do not hold is left over from before a restart of this container.
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** @param {string} from @param {string} to */
function tryRename(from, to) {
  try {
    fs.renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} file */
function touch(file) {
  try {
    fs.utimesSync(file, new Date(), new Date());
  } catch {
    // Another process took over the lock; `assertHeld` reports it before any file is moved into place.
  }
}
