import type { Readable } from 'node:stream';
import type { Mint } from '../engine/mint.ts';
import { type NumberedLine, OrganizationExists } from '../engine/snapshot-import.ts';
import type { SnapshotStore } from '../engine/snapshot-store.ts';
import type { Vault } from '../engine/vault.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { SnapshotProblem, UnsoundSnapshot } from '../kernel/snapshot.ts';
import type { Instant } from '../kernel/table.ts';
import { type Arrived, type AsFork, arrivalOf, showWebhook } from './snapshot-arrival.ts';
import { linesOf, snapshotBytesMax } from './snapshot-lines.ts';
import { Spool, SpoolFull } from './spool.ts';

export interface SnapshotsSettings {
  readonly store: SnapshotStore;
  readonly vault: Vault;
  readonly mint: Mint;
  readonly wallClock: () => Instant;
  /** Endpoints that are there now. */
  readonly onWebhooks: (
    webhooks: readonly { readonly orgId: string; readonly appId: string; readonly id: string }[],
  ) => void;
}

export interface ImportResult extends Arrived {
  readonly counts: Readonly<Record<string, number>>;
}

/** A snapshot that is ready to be read; it is gone when it was read or given up. */
export type Exported = Readable;

// Of each a file as large as a snapshot may be, and on PostgreSQL a connection.
const atOnceMax = 2;
const retryAfterSeconds = 5;

/** Takes organizations out of the database and puts them in, through files of its own. */
export class Snapshots {
  readonly #settings: SnapshotsSettings;
  #running = 0;

  constructor(settings: SnapshotsSettings) {
    this.#settings = settings;
  }

  /** As it is at one moment. The caller reads it from a file, as slowly as it likes. */
  async export(orgId: string, hasSecrets: boolean): Promise<Exported | Refusal> {
    return this.#inTurn(async () => {
      const spool = await this.#spooled(orgId, hasSecrets);
      const stream = spool.read();
      stream.once('close', () => void spool.close());
      return stream;
    });
  }

  /** All there is, one snapshot after the other, with secrets: for a server that ends. Nobody else reads slowly here. */
  async exportAll(write: (lines: AsyncIterable<string>) => Promise<void>): Promise<number> {
    return this.#settings.store.giveAll(this.#asked(true), write);
  }

  /** From bytes that may come slowly. */
  async importFrom(
    bytes: AsyncIterable<Uint8Array>,
    fork: AsFork | undefined,
  ): Promise<ImportResult | Refusal> {
    return this.#inTurn(async () => {
      const spool = await Spool.fill(bytes, snapshotBytesMax);
      try {
        return await this.importLines(linesOf(spool.read()), fork);
      } finally {
        await spool.close();
      }
    });
  }

  /** The same organization once more, as it is now, under new ids. */
  async fork(orgId: string, fork: AsFork): Promise<ImportResult | Refusal> {
    return this.#inTurn(async () => {
      const spool = await this.#spooled(orgId, false);
      try {
        return await this.importLines(linesOf(spool.read()), fork);
      } finally {
        await spool.close();
      }
    });
  }

  async importLines(
    lines: AsyncIterable<NumberedLine>,
    fork: AsFork | undefined,
  ): Promise<ImportResult | Refusal> {
    const { store, onWebhooks } = this.#settings;
    let arrived: Arrived | undefined;
    try {
      const { counts } = await store.take(lines, (header, setUp) => {
        const made = arrivalOf(this.#settings, fork, header, setUp);
        arrived = made.arrived;
        return made.arrival;
      });
      if (!arrived) throw new Error('an organization was imported without being looked at');
      const { organization, webhooks } = arrived;
      onWebhooks(webhooks.map(({ id, appId }) => ({ orgId: organization.id, appId, id })));
      return { ...arrived, counts };
    } catch (error) {
      if (error instanceof OrganizationExists)
        return refuse('organization_exists', { details: { organization: arrived?.organization } });
      return refusalOf(error);
    }
  }

  async #spooled(orgId: string, hasSecrets: boolean): Promise<Spool> {
    const { store } = this.#settings;
    return store.give(orgId, this.#asked(hasSecrets), (lines) => Spool.fill(lines, snapshotBytesMax));
  }

  #asked(hasSecrets: boolean) {
    const { vault, wallClock } = this.#settings;
    return { now: wallClock(), hasSecrets, showWebhook: showWebhook(vault, hasSecrets) };
  }

  async #inTurn<Result>(work: () => Promise<Result | Refusal>): Promise<Result | Refusal> {
    if (this.#running >= atOnceMax)
      return refuse('service_unavailable', {
        message: 'Other snapshots are being made or read. Try again in a moment.',
        retryAfterSeconds,
      });
    this.#running += 1;
    try {
      return await work();
    } catch (error) {
      return refusalOf(error);
    } finally {
      this.#running -= 1;
    }
  }
}

/** What a person can mend is a refusal; the rest is thrown on. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof SnapshotProblem) {
    const { message, details, code } = error;
    return refuse(code, { message, details });
  }
  if (error instanceof UnsoundSnapshot) {
    const { message, details } = error;
    return refuse('snapshot_invalid', { message, details });
  }
  if (error instanceof SpoolFull)
    return refuse('payload_too_large', { message: 'A snapshot has at most 256 MiB.' });
  throw error;
}
