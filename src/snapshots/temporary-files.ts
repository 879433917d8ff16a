import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busy, KeyedSlots, Slots } from '../engine/slots.ts';

/** The content is larger than one file may be. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

export interface TemporaryFileLimits {
  readonly filesMax: number;
  readonly filesOfOwnerMax: number;
  readonly fileBytesMax: number;
  /** Of all files together. */
  readonly bytesMax: number;
  /** How long a caller waits for a file that others have. */
  readonly waitMsMax: number;
  /** A reader that takes nothing for this long loses its file, and so does one that reads for longer than the second. */
  readonly stalledMsMax: number;
  readonly readMsMax: number;
}

export const usualLimits: TemporaryFileLimits = {
  filesMax: 16,
  filesOfOwnerMax: 4,
  fileBytesMax: 256 * 1024 * 1024,
  bytesMax: 1024 * 1024 * 1024,
  waitMsMax: 30_000,
  stalledMsMax: 30_000,
  readMsMax: 15 * 60_000,
};

// A file lives for the time limits above: what is older was left behind by a process that was killed.
const leftoverMs = 60 * 60_000;
const retryAfterSeconds = 10;
/** Names the host, because process ids mean nothing on another one that shares the folder. */
export const temporaryPrefix = `sandbank-snapshot-${hostname().replace(/[^\w.]/g, '_')}-`;
/** The directories of this process, whichever server they belong to. */
const live = new Set<string>();

/**
 * Files of our own, readable by their owner alone. They decouple the database, which must not wait for slow callers, from
 * callers. Their number and bytes are bounded, and so is the time that a reader may take: a download that nobody reads
 * does not retain its file.
 */
export class TemporaryFiles {
  readonly #limits: TemporaryFileLimits;
  readonly #slots: Slots;
  readonly #slotsOfOwners: KeyedSlots;
  #bytes = 0;

  constructor(limits: TemporaryFileLimits = usualLimits) {
    this.#limits = limits;
    const { filesMax, filesOfOwnerMax, waitMsMax } = limits;
    this.#slots = new Slots({ atOnceMax: filesMax, waitingMax: 256, waitMsMax });
    this.#slotsOfOwners = new KeyedSlots({ atOnceMax: filesOfOwnerMax, waitingMax: 64, waitMsMax });
  }

  /** A slot for one file; `Busy` when there is none for too long. */
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
    // A directory that is created here can be entered by its owner alone.
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

  /** For a caller, who may be slow, but not for ever. The file is removed when the stream closes. */
  download(): Readable {
    const { stalledMsMax, readMsMax } = this.#limits;
    const give = (why: string) => () => stream.destroy(new Error(`the download was ended: ${why}`));
    const stalled = setTimeout(give('nothing was read for too long'), stalledMsMax);
    const late = setTimeout(give('it took too long'), readMsMax);
    for (const timer of [stalled, late]) timer.unref();
    const chunks = async function* (file: TemporaryFile) {
      for await (const chunk of file.read()) {
        stalled.refresh();
        yield chunk as Uint8Array;
      }
    };
    const stream = Readable.from(chunks(this), { objectMode: false });
    // Whoever reads it is gone, or is informed by the end of the connection.
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
      // Counted here and there before either can throw, because the file releases what it has counted.
      this.#bytes += length;
      this.#accounting.add(length);
      if (this.#bytes > this.#limits.fileBytesMax) throw new FileTooLarge(`more than ${this.#bytes} bytes`);
      yield piece;
    }
  }
}

/** Removes what processes of this host that were killed have left behind. Returns how many directories it removed. */
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

/** Whether another process has this id. Our own directories are known, so one of this id was left by an earlier process. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
