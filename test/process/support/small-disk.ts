/** A disk that a test can fill: a tmpfs, where this process may mount one. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Writes until no space is left. */
  fill(): void;
  /** Frees the space. */
  free(): void;
  remove(): void;
}

/** Undefined if this process may not mount it; only root may. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-disk-'));
  const options = `size=${megabytes}m,mode=0777`;
  const isMounted =
    process.platform === 'linux' &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;
  if (!isMounted) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const ballast = path.join(folder, 'ballast');
  return {
    path: folder,
    fill: () => {
      const file = openSync(ballast, 'a');
      try {
        for (const size of [1 << 20, 1 << 12])
          try {
            for (;;) writeSync(file, Buffer.alloc(size));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          }
      } finally {
        closeSync(file);
      }
    },
    free: () => unlinkSync(ballast),
    remove: () => {
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
