import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** It was more than may be. */
export class SpoolFull extends Error {
  override readonly name = 'SpoolFull';
}

/**
 * A file of our own, readable by its owner alone, that is gone when it is closed. It stands between a database, which must not
 * wait for a slow caller, and callers, who may be slow.
 */
export class Spool {
  readonly #directory: string;
  readonly #file: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#file = join(directory, 'spool');
  }

  static async fill(bytes: AsyncIterable<string | Uint8Array>, bytesMax: number): Promise<Spool> {
    // A directory that is made here is entered by its owner alone.
    const spool = new Spool(await mkdtemp(join(tmpdir(), 'sandbank-')));
    try {
      await pipeline(
        Readable.from(bounded(bytes, bytesMax)),
        createWriteStream(spool.#file, { mode: 0o600 }),
      );
      return spool;
    } catch (error) {
      await spool.close();
      throw error;
    }
  }

  read(): Readable {
    return createReadStream(this.#file);
  }

  async close(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function* bounded(bytes: AsyncIterable<string | Uint8Array>, bytesMax: number) {
  let sum = 0;
  for await (const piece of bytes) {
    sum += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
    if (sum > bytesMax) throw new SpoolFull(`more than ${bytesMax} bytes`);
    yield piece;
  }
}
