import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { type IdGenerator, randomIdGenerator, seededIdGenerator, seededNow } from '../engine/id-generator.ts';
import type { Vault } from '../engine/vault.ts';
import type { People } from '../identity/people.ts';
import type { Instant } from '../kernel/table.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The dependencies of all server parts: settings, database, clocks and error reporting. */
export interface Foundation {
  readonly config: Config;
  readonly database: Database;
  readonly telemetry: Telemetry;
  readonly vault: Vault;
  readonly people: People;
  readonly idGenerator: IdGenerator;
  /** The current time as records show it. With a seed it is fixed. */
  readonly wallClock: () => Instant;
  readonly uptime: () => number;
  /** Whether this is the only process that uses the database. */
  readonly isAlone: boolean;
  readonly address: Address;
  readonly onError: (error: unknown, what: string) => void;
  readonly onBug: (error: unknown, requestId: string) => void;
}

/** The address at which clients reach the server. Without a configured public URL it is known once the server listens. */
interface Address {
  current: string;
}

export function createFoundation(
  dependencies: Pick<
    Foundation,
    'config' | 'database' | 'telemetry' | 'vault' | 'people' | 'onError' | 'onBug'
  >,
): Foundation {
  const { deterministic, publicUrl } = dependencies.config;
  const idGenerator = deterministic === undefined ? randomIdGenerator : seededIdGenerator(deterministic);
  return {
    ...dependencies,
    idGenerator,
    wallClock: idGenerator.isSeeded ? () => seededNow : Date.now,
    uptime: () => performance.now(),
    isAlone: dependencies.database.kind === 'pglite',
    address: { current: publicUrl ?? '' },
  };
}

/** With a seed, errors must have the same bytes on every port, so they have a path, relative to the server address. */
export function docsUrlOf({ idGenerator, config, address }: Foundation): () => string {
  return () => `${idGenerator.isSeeded ? (config.publicUrl ?? '') : address.current}/docs`;
}
