import type { Readable } from 'node:stream';
import type { IdGenerator } from '../engine/id-generator.ts';
import { Busy, Slots } from '../engine/slots.ts';
import type { Vault } from '../engine/vault.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Instant } from '../kernel/table.ts';
import { type Arrived, type AsFork, arrivalOf, showWebhook } from './arrival.ts';
import { ForkTooLarge, rowsInForkMax } from './fork.ts';
import { SnapshotProblem, UnsoundSnapshot } from './format.ts';
import { type Arrive, type Imported, type NumberedLine, OrganizationExists } from './import.ts';
import { linesOf } from './lines.ts';
import type { SnapshotStore } from './store.ts';
import {
  FileTooLarge,
  type TemporaryFile,
  type TemporaryFileLimits,
  TemporaryFiles,
} from './temporary-files.ts';

export interface SnapshotsSettings {
  readonly store: SnapshotStore;
  readonly vault: Vault;
  readonly idGenerator: IdGenerator;
  readonly wallClock: () => Instant;
  readonly fileLimits?: TemporaryFileLimits;
  /** Endpoints that are there now. */
  readonly onWebhooks: (
    webhooks: readonly { readonly orgId: string; readonly appId: string; readonly id: string }[],
  ) => void;
}

export interface ImportResult extends Arrived {
  readonly counts: Readonly<Record<string, number>>;
}

/** A snapshot that is ready to be read; its file is removed when it was read or given up. */
export type Exported = Readable;

// Each takes a connection of PostgreSQL. Tests that start side by side fork at once, and a fork takes some ten milliseconds: they wait.
const workLimits = { atOnceMax: 2, waitingMax: 128, waitMsMax: 30_000 };

/** Takes organizations out of the database and puts them in, through files of its own. */
export class Snapshots {
  readonly #settings: SnapshotsSettings;
  readonly #work = new Slots(workLimits);
  readonly #files: TemporaryFiles;

  constructor(settings: SnapshotsSettings) {
    this.#settings = settings;
    this.#files = new TemporaryFiles(settings.fileLimits);
  }

  /** As it is at one moment. The caller reads it from a file, slowly if need be. */
  async export(orgId: string, hasSecrets: boolean): Promise<Exported | Refusal> {
    const { store } = this.#settings;
    return refused(() =>
      this.#withFile(orgId, async (file) => {
        await this.#work.run(() => store.give(orgId, this.#asked(hasSecrets), (lines) => file.fill(lines)));
        return { result: file.download(), isOpen: true };
      }),
    );
  }

  /** All there is, one snapshot after the other, with secrets: for a server that ends. Nobody else reads slowly here. */
  async exportAll(write: (lines: AsyncIterable<string>) => Promise<void>): Promise<number> {
    return this.#settings.store.giveAll(this.#asked(true), write);
  }

  /** From bytes that may come slowly: until they are here, nobody waits for them. */
  async importFrom(
    bytes: AsyncIterable<Uint8Array>,
    fork: AsFork | undefined,
  ): Promise<ImportResult | Refusal> {
    return refused(() =>
      this.#withFile('imports', async (file) => {
        await file.fill(bytes);
        const result = await this.#work.run(() => this.importLines(linesOf(file.read()), fork));
        return { result, isOpen: false };
      }),
    );
  }

  /** The same organization once more, as it is now, under new ids. */
  async fork(orgId: string, fork: AsFork): Promise<ImportResult | Refusal> {
    const { store } = this.#settings;
    return refused(() =>
      this.#work.run(async () => {
        const result = await this.#arriving(fork, (arrive) => store.fork(orgId, arrive));
        return result ?? refuse('resource_not_found');
      }),
    );
  }

  async importLines(
    lines: AsyncIterable<NumberedLine>,
    fork: AsFork | undefined,
  ): Promise<ImportResult | Refusal> {
    const { store } = this.#settings;
    return refused(async () => {
      const result = await this.#arriving(fork, (arrive) => store.take(lines, arrive));
      if (!result) throw new Error('nothing was imported');
      return result;
    });
  }

  async #arriving(
    fork: AsFork | undefined,
    write: (arrive: Arrive) => Promise<Imported | undefined>,
  ): Promise<ImportResult | Refusal | undefined> {
    let arrived: Arrived | undefined;
    try {
      const imported = await write((header, setUp) => {
        const made = arrivalOf(this.#settings, fork, header, setUp);
        arrived = made.arrived;
        return made.arrival;
      });
      if (!imported || !arrived) return undefined;
      const { organization, webhooks } = arrived;
      this.#settings.onWebhooks(webhooks.map(({ id, appId }) => ({ orgId: organization.id, appId, id })));
      return { ...arrived, counts: imported.counts };
    } catch (error) {
      if (error instanceof OrganizationExists)
        return refuse('organization_exists', { details: { organization: arrived?.organization } });
      throw error;
    }
  }

  async #withFile<Result>(
    owner: string,
    work: (file: TemporaryFile) => Promise<{ readonly result: Result; readonly isOpen: boolean }>,
  ): Promise<Result> {
    const file = await this.#files.open(owner);
    let isOpen = false;
    try {
      const done = await work(file);
      isOpen = done.isOpen;
      return done.result;
    } finally {
      if (!isOpen) await file.close();
    }
  }

  #asked(hasSecrets: boolean) {
    const { vault, wallClock } = this.#settings;
    return { now: wallClock(), hasSecrets, showWebhook: showWebhook(vault, hasSecrets) };
  }
}

async function refused<Result>(work: () => Promise<Result | Refusal>): Promise<Result | Refusal> {
  try {
    return await work();
  } catch (error) {
    return refusalOf(error);
  }
}

/** What the caller can fix is a refusal; the rest is thrown. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof SnapshotProblem) {
    const { message, details, code } = error;
    return refuse(code, { message, details });
  }
  if (error instanceof UnsoundSnapshot) {
    const { message, details } = error;
    return refuse('snapshot_invalid', { message, details });
  }
  if (error instanceof FileTooLarge)
    return refuse('payload_too_large', { message: 'A snapshot has at most 256 MiB.' });
  if (error instanceof ForkTooLarge)
    return refuse('payload_too_large', {
      message: `A fork copies at most ${rowsInForkMax} rows of each kind.`,
    });
  if (error instanceof Busy) {
    const { message, retryAfterSeconds } = error;
    return refuse('service_unavailable', { message, retryAfterSeconds });
  }
  throw error;
}
