import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busy, KeyedSlots, Slots } from '../engine/slots.ts';
import { hourMs, minuteMs } from '../kernel/time.ts';

/** The content is larger than one file may be. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

export interface TemporaryFileLimits {
  readonly filesMax: number;
  readonly filesOfOwnerMax: number;
  readonly fileBytesMax: number;
  /** Total size of all files. */
  readonly bytesMax: number;
  /** How long a caller waits for a free slot. */
  readonly waitMsMax: number;
  /** A download is aborted when nothing was read for this long. */
  readonly stalledMsMax: number;
  /** A download is aborted when it takes longer than this in total. */
  readonly readMsMax: number;
}

export const defaultLimits: TemporaryFileLimits = {
  filesMax: 16,
  filesOfOwnerMax: 4,
  fileBytesMax: 256 * 1024 * 1024,
  bytesMax: 1024 * 1024 * 1024,
  waitMsMax: 30_000,
  stalledMsMax: 30_000,
  readMsMax: 15 * minuteMs,
};

// Longer than the limits above: an older file was left behind by a killed process.
const leftoverMs = hourMs;
const retryAfterSeconds = 10;
/** Contains the host name, because process ids are meaningless on another host that shares the folder. */
export const temporaryPrefix = `sandbank-snapshot-${hostname().replace(/[^\w.]/g, '_')}-`;
/** The directories of this process, for all servers in it. */
const live = new Set<string>();

/**
 * Temporary files, readable by their owner only. They decouple the database from slow callers. Their number and size are bounded,
 * and so is the time that a reader may take: an abandoned download does not retain its file.
 */
export class TemporaryFiles {
  readonly #limits: TemporaryFileLimits;
  readonly #slots: Slots;
  readonly #slotsOfOwners: KeyedSlots;
  #bytes = 0;

  constructor(limits: TemporaryFileLimits = defaultLimits) {
    this.#limits = limits;
    const { filesMax, filesOfOwnerMax, waitMsMax } = limits;
    this.#slots = new Slots({ atOnceMax: filesMax, waitingMax: 256, waitMsMax });
    this.#slotsOfOwners = new KeyedSlots({ atOnceMax: filesOfOwnerMax, waitingMax: 64, waitMsMax });
  }

  /** Acquires a slot for one file; throws `Busy` when none becomes free in time. */
  async open(owner: string): Promise<TemporaryFile> {
    const releaseOwner = await this.#slotsOfOwners.acquire(owner);
    let release: () => void;
    try {
      release = await this.#slots.acquire();
    } catch (error) {
      releaseOwner();
      throw error;
    }
    return new TemporaryFile(this.#limits, {
      add: (bytes) => {
        this.#bytes += bytes;
        if (this.#bytes > this.#limits.bytesMax)
          throw new Busy('Too many snapshots are being transferred.', retryAfterSeconds);
      },
      release: (bytes) => {
        this.#bytes -= bytes;
        release();
        releaseOwner();
      },
    });
  }
}

interface Accounting {
  /** Throws when all files together become too large. */
  add(bytes: number): void;
  release(bytes: number): void;
}

export class TemporaryFile {
  readonly #limits: TemporaryFileLimits;
  readonly #accounting: Accounting;
  #directory: string | undefined;
  #bytes = 0;
  #isClosed = false;

  constructor(limits: TemporaryFileLimits, accounting: Accounting) {
    this.#limits = limits;
    this.#accounting = accounting;
  }

  async fill(bytes: AsyncIterable<string | Uint8Array>): Promise<void> {
    // A directory that is created here is accessible to its owner only.
    this.#directory = await mkdtemp(join(tmpdir(), `${temporaryPrefix}${process.pid}-`));
    live.add(this.#directory);
    await pipeline(
      Readable.from(this.#counted(bytes)),
      createWriteStream(join(this.#directory, 'content'), { mode: 0o600 }),
    );
  }

  /** For this process, which reads as fast as it can. */
  read(): Readable {
    return createReadStream(join(this.#directory ?? '', 'content'));
  }

  /** For a caller, who may be slow up to the limits. The file is removed when the stream closes. */
  download(): Readable {
    const { stalledMsMax, readMsMax } = this.#limits;
    const abort = (why: string) => () => stream.destroy(new Error(`download aborted: ${why}`));
    const stalled = setTimeout(abort('nothing was read for too long'), stalledMsMax);
    const late = setTimeout(abort('it took too long'), readMsMax);
    for (const timer of [stalled, late]) timer.unref();
    const chunks = async function* (file: TemporaryFile) {
      for await (const chunk of file.read()) {
        stalled.refresh();
        yield chunk as Uint8Array;
      }
    };
    const stream = Readable.from(chunks(this), { objectMode: false });
    // The closed connection informs the reader.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      clearTimeout(stalled);
      clearTimeout(late);
      void this.close();
    });
    return stream;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const directory = this.#directory;
    try {
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    } finally {
      if (directory !== undefined) live.delete(directory);
      this.#accounting.release(this.#bytes);
    }
  }

  async *#counted(bytes: AsyncIterable<string | Uint8Array>) {
    for await (const piece of bytes) {
      const length = typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
      // Update both counters before either check can throw, because `close` releases `#bytes`.
      this.#bytes += length;
      this.#accounting.add(length);
      if (this.#bytes > this.#limits.fileBytesMax) throw new FileTooLarge(`more than ${this.#bytes} bytes`);
      yield piece;
    }
  }
}

/** Removes directories that killed processes on this host have left behind. Returns their number. */
export async function removeLeftovers(now: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!name.startsWith(temporaryPrefix) || live.has(path)) continue;
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    const pid = Number(/^(\d+)-/.exec(name.slice(temporaryPrefix.length))?.[1]);
    if (isAlive(pid) && now - mtimeMs < leftoverMs) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

/** Whether another process has this id. Our directories are in `live`, so another one with our id is from an earlier process. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
