import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../process/support/client.ts';
import { testNodeArgs } from '../support/processes.ts';
import { testSeed } from '../support/seed.ts';
import { type SoakOptions, soak } from './soak.ts';
import { verdictsOf } from './verdicts.ts';

/**
 * `npm run test:soak` sets these. Without them this is the same code for seconds, with each disturbance once, and judges nothing that needs
 * time.
 */
const { SANDBANK_SOAK_MINUTES: minutesText, SANDBANK_SOAK_FOLDER: reports } = process.env;
const databases = (process.env.SANDBANK_SOAK_DATABASES ?? 'postgres,embedded').split(',');
const isLong = minutesText !== undefined;
const minutes = Number(minutesText ?? 0.3);
const seconds = minutes * 60;
const rate = Number(process.env.SANDBANK_SOAK_RATE ?? (isLong ? 40 : 25));
/** Six days of the servers in an hour; a run of seconds has few jumps. */
const days = isLong ? 6 : 1;
const warmUpMax = 600;
/** More than the row cache of a node holds. */
const archivedPayments = isLong ? 25_000 : 300;

const folders: ReturnType<typeof temporaryFolder>[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

test.each(databases as SoakOptions['database'][])(
  'traffic and disturbances lose nothing, and nothing grows, on %s',
  { timeout: 3_600_000 + seconds * 2_000 },
  async (database) => {
    const folder = temporaryFolder();
    folders.push(folder);
    const run = await soak({
      ...{ folder: folder.path, database, minutes, rate, seed: testSeed },
      sampleSeconds: Math.min(60, seconds / 20),
      warmUpSeconds: Math.min(warmUpMax, seconds / 3),
      daySeconds: seconds / days,
      archivedPayments,
      nodeArgs: isLong ? [] : testNodeArgs,
      onProgress: (text) => isLong && process.stderr.write(`${database} ${text}\n`),
    });
    if (reports !== undefined) {
      mkdirSync(reports, { recursive: true });
      writeFileSync(path.join(reports, `${database}.json`), JSON.stringify(run));
    }
    const failed = verdictsOf(run).filter(({ result }) => result === 'failed');
    expect(failed, `seed ${testSeed}`).toEqual([]);
  },
);
