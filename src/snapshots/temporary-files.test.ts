import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Busy } from '../engine/slots.ts';
import {
  defaultLimits,
  FileTooLarge,
  removeLeftovers,
  TemporaryFiles,
  temporaryPrefix,
} from './temporary-files.ts';

const previous = process.env.TMPDIR;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temporary-files-'));
  process.env.TMPDIR = folder;
});
afterEach(() => {
  if (previous === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = previous;
  rmSync(folder, { recursive: true, force: true });
});

const megabyte = 1024 * 1024;
async function* megabytes(count: number) {
  for (let i = 0; i < count; i += 1) yield Buffer.alloc(megabyte, i);
}
const closed = (stream: Readable) => new Promise((resolve) => stream.once('close', resolve));
const gone = () => vi.waitUntil(() => readdirSync(folder).length === 0);

describe('a download', () => {
  test('returns the file content and removes the file afterwards', async () => {
    const file = await new TemporaryFiles().open('a');
    await file.fill(megabytes(2));
    let length = 0;
    for await (const chunk of file.download()) length += (chunk as Buffer).length;
    expect(length).toBe(2 * megabyte);
    await gone();
  });

  test.each([
    ['that nobody reads', { stalledMsMax: 20, readMsMax: 60_000 }],
    ['that takes too long', { stalledMsMax: 60_000, readMsMax: 20 }],
  ])('%s is aborted, and the next caller gets its slot', async (_what, times) => {
    const files = new TemporaryFiles({ ...defaultLimits, ...times, filesMax: 1, waitMsMax: 5_000 });
    const file = await files.open('a');
    await file.fill(megabytes(2));
    const stream = file.download();
    const next = files.open('b');
    await closed(stream);
    await (await next).close();
    await gone();
  });
});

describe('temporary files', () => {
  test('have a size limit each and in total', async () => {
    const files = new TemporaryFiles({
      ...defaultLimits,
      fileBytesMax: 2 * megabyte,
      bytesMax: 3 * megabyte,
    });
    const [one, two, three] = [await files.open('a'), await files.open('b'), await files.open('c')];
    await expect(one.fill(megabytes(3))).rejects.toThrow(FileTooLarge);
    await one.close();
    await two.fill(megabytes(2));
    await expect(three.fill(megabytes(2))).rejects.toThrow(Busy);
    await three.close();
    await two.close();
    const again = await files.open('c');
    await again.fill(megabytes(2));
    await again.close();
    await gone();
  });

  test('of one owner leave room for others', async () => {
    const files = new TemporaryFiles({ ...defaultLimits, filesMax: 3, filesOfOwnerMax: 2, waitMsMax: 20 });
    const own = [await files.open('a'), await files.open('a')];
    await expect(files.open('a')).rejects.toMatchObject({
      name: 'Busy',
      retryAfterSeconds: expect.any(Number),
    });
    await (await files.open('b')).close();
    for (const file of own) await file.close();
    await (await files.open('a')).close();
  });

  test('of a killed process are removed at the start, and no others', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const make = (name: string) => {
      mkdirSync(join(folder, name));
      return join(folder, name);
    };
    const left = make(`${temporaryPrefix}${pid}-abc`);
    const other = make(`${temporaryPrefix}${process.ppid}-abc`);
    const strange = make('sandbank-something-else');
    const file = await new TemporaryFiles().open('a');
    await file.fill(megabytes(1));
    expect(await removeLeftovers(Date.now())).toBe(1);
    expect([left, other, strange].map((path) => existsSync(path))).toEqual([false, true, true]);
    expect(await removeLeftovers(Date.now() + 2 * 60 * 60_000)).toBe(1);
    let length = 0;
    for await (const chunk of file.download()) length += (chunk as Buffer).length;
    expect(length).toBe(megabyte);
  });
});
