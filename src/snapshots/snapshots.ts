import type { Readable } from 'node:stream';
import type { IdGenerator } from '../engine/id-generator.ts';
import { Busy, Slots } from '../engine/slots.ts';
import type { Vault } from '../engine/vault.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Instant } from '../kernel/table.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import { ForkTooLarge, rowsInForkMax } from './fork.ts';
import { SnapshotProblem, UnsoundSnapshot } from './format.ts';
import { type Imported, type NumberedLine, OrganizationExists, type PlanImport } from './import.ts';
import { exportWebhook, type ForkOptions, type ImportedContent, planImport } from './import-plan.ts';
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
  /** Called with the imported webhooks. */
  readonly onWebhooks: (webhooks: readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]) => void;
}

export interface ImportResult extends ImportedContent {
  readonly counts: Readonly<Record<string, number>>;
}

/** A snapshot that is ready to be read; its file is removed when the stream closes. */
export type Exported = Readable;

// Each uses a PostgreSQL connection. Parallel tests fork at the same time, and a fork takes some ten milliseconds, so they queue.
const workLimits = { atOnceMax: 2, waitingMax: 128, waitMsMax: 30_000 };

/** Exports, imports and forks organizations, through temporary files. */
export class Snapshots {
  readonly #settings: SnapshotsSettings;
  readonly #work = new Slots(workLimits);
  readonly #files: TemporaryFiles;

  constructor(settings: SnapshotsSettings) {
    this.#settings = settings;
    this.#files = new TemporaryFiles(settings.fileLimits);
  }

  /** Exports one consistent state to a file, which the caller may read slowly. */
  async export(orgId: string, hasSecrets: boolean): Promise<Exported | Refusal> {
    const { store } = this.#settings;
    return refused(() =>
      this.#withFile(orgId, async (file) => {
        await this.#work.run(() =>
          store.export(orgId, this.#exportSettings(hasSecrets), (lines) => file.fill(lines)),
        );
        return { result: file.download(), isOpen: true };
      }),
    );
  }

  /** Exports all organizations with secrets, one snapshot after the other, when the server exits. `write` must be fast. */
  async exportAll(write: (lines: AsyncIterable<string>) => Promise<void>): Promise<number> {
    return this.#settings.store.exportAll(this.#exportSettings(true), write);
  }

  /** Imports from bytes that may arrive slowly: they are stored in a file before the database transaction begins. */
  async importFrom(
    bytes: AsyncIterable<Uint8Array>,
    fork: ForkOptions | undefined,
  ): Promise<ImportResult | Refusal> {
    return refused(() =>
      this.#withFile('imports', async (file) => {
        await file.fill(bytes);
        const result = await this.#work.run(() => this.importLines(linesOf(file.read()), fork));
        return { result, isOpen: false };
      }),
    );
  }

  /** Copies an organization in its current state, with new ids. */
  async fork(orgId: string, fork: ForkOptions): Promise<ImportResult | Refusal> {
    const { store } = this.#settings;
    return refused(() =>
      this.#work.run(async () => {
        const result = await this.#importPlanned(fork, (plan) => store.fork(orgId, plan));
        return result ?? refuse('resource_not_found');
      }),
    );
  }

  async importLines(
    lines: AsyncIterable<NumberedLine>,
    fork: ForkOptions | undefined,
  ): Promise<ImportResult | Refusal> {
    const { store } = this.#settings;
    return refused(async () => {
      const result = await this.#importPlanned(fork, (plan) => store.importLines(lines, plan));
      if (!result) throw new Error('the import returned no result');
      return result;
    });
  }

  async #importPlanned(
    fork: ForkOptions | undefined,
    write: (plan: PlanImport) => Promise<Imported | undefined>,
  ): Promise<ImportResult | Refusal | undefined> {
    let content: ImportedContent | undefined;
    try {
      const imported = await write((header, configuration) => {
        const planned = planImport(this.#settings, fork, header, configuration);
        content = planned.content;
        return planned.plan;
      });
      if (!imported || !content) return undefined;
      const { organization, webhooks } = content;
      this.#settings.onWebhooks(webhooks.map(({ id, appId }) => ({ orgId: organization.id, appId, id })));
      return { ...content, counts: imported.counts };
    } catch (error) {
      if (error instanceof OrganizationExists)
        return refuse('organization_exists', { details: { organization: content?.organization } });
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

  #exportSettings(hasSecrets: boolean) {
    const { vault, wallClock } = this.#settings;
    return { now: wallClock(), hasSecrets, exportWebhook: exportWebhook(vault, hasSecrets) };
  }
}

async function refused<Result>(work: () => Promise<Result | Refusal>): Promise<Result | Refusal> {
  try {
    return await work();
  } catch (error) {
    return refusalOf(error);
  }
}

/** Errors that the caller can fix become refusals; others are rethrown. */
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
