/** What the tests that kill servers share: where a server keeps its data, when it is killed, and the chance behind both. */
import path from 'node:path';
import { inject } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerOptions } from '../support/processes.ts';
import { type Query, queryEmbedded, queryPostgres } from './records.ts';

export const SEED = Number(process.env.SANDBANK_TEST_SEED ?? Date.now() % 1_000_000);

export interface Place {
  readonly options: ServerOptions;
  /** Called when the server has stopped. */
  readonly inspect: (work: (query: Query) => Promise<void>) => Promise<void>;
}

/** Both databases, each by its name. */
export function placesIn(folder: string): readonly (readonly [name: string, open: () => Promise<Place>])[] {
  return [
    [
      'the embedded database',
      async () => {
        const dataDir = path.join(folder, 'data');
        return { options: { dataDir }, inspect: (work) => queryEmbedded(dataDir, work) };
      },
    ],
    [
      'PostgreSQL',
      async () => {
        const databaseUrl = await migratedDatabase(inject('postgresUrl'));
        return { options: { databaseUrl }, inspect: (work) => queryPostgres(databaseUrl, work) };
      },
    ],
  ];
}

/** The moment of the kill is what is tried here, so it is by the clock: any other sign would favour one step of a batch. */
export function passed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** mulberry32: small, and the same sequence for the same seed everywhere. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
