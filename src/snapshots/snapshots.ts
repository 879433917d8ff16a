import type { Readable } from 'node:stream';
import type { IdGenerator } from '../engine/id-generator.ts';
import { Busy, Slots } from '../engine/slots.ts';
import type { Vault } from '../engine/vault.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import { ForkTooLarge, rowsInForkMax } from './fork.ts';
import { SnapshotProblem, UnsoundSnapshot } from './format.ts';
import { type Imported, type NumberedLine, OrganizationExists, type PlanImport } from './import.ts';
import { exportWebhook, type ForkOptions, type ImportedContent, planImport } from './import-plan.ts';
import { linesOf } from './lines.ts';
import { ClockAdvancing, OrganizationGone, type Replaced } from './replacement.ts';
import { checkSignature } from './signature.ts';
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
  /** Called when the content of an organization was written, with its webhooks. */
  readonly onImport: (
    orgId: Id<'organization'>,
    webhooks: readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[],
  ) => void;
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

  /** Imports what the operator sends. The bytes may arrive slowly: they are stored in a file before the transaction begins. */
  async importFrom(
    bytes: AsyncIterable<Uint8Array>,
    fork: ForkOptions | undefined,
  ): Promise<ImportResult | Refusal> {
    return this.#fromFile(bytes, 'imports', (file) => this.importLines(linesOf(file.read()), fork));
  }

  /**
   * Imports what a person uploads, as a new organization, or in place of the content of `replaced`. The rows of a snapshot are not
   * checked like the input of the API, so only a file that this server has signed is accepted.
   */
  async restoreFrom(
    bytes: AsyncIterable<Uint8Array>,
    personId: Id<'person'>,
    target: { readonly fork: ForkOptions } | { readonly replaced: Replaced },
  ): Promise<ImportResult | Refusal> {
    const { fork, replaced } = { fork: undefined, replaced: undefined, ...target };
    return this.#fromFile(bytes, personId, async (file) => {
      await checkSignature(linesOf(file.read()), this.#settings.vault);
      return this.importLines(linesOf(file.read()), fork, replaced);
    });
  }

  /** `owner` is whose number of concurrent files is limited. */
  #fromFile(
    bytes: AsyncIterable<Uint8Array>,
    owner: string,
    work: (file: TemporaryFile) => Promise<ImportResult | Refusal>,
  ): Promise<ImportResult | Refusal> {
    return refused(() =>
      this.#withFile(owner, async (file) => {
        await file.fill(bytes);
        return { result: await this.#work.run(() => work(file)), isOpen: false };
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
    replaced?: Replaced,
  ): Promise<ImportResult | Refusal> {
    const { store } = this.#settings;
    return refused(async () => {
      const result = await this.#importPlanned(fork, (plan) => store.importLines(lines, plan, replaced));
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
      const imported = await write((header, configuration, retained) => {
        const planned = planImport(this.#settings, fork, header, configuration, retained);
        content = planned.content;
        return planned.plan;
      });
      if (!imported || !content) return undefined;
      const { organization, webhooks } = content;
      const orgId = organization.id;
      this.#settings.onImport(
        orgId,
        webhooks.map(({ id, appId }) => ({ orgId, appId, id })),
      );
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
    const sign = (sha256: string) => vault.sign(sha256);
    return { now: wallClock(), hasSecrets, exportWebhook: exportWebhook(vault, hasSecrets), sign };
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
  if (error instanceof ClockAdvancing)
    return refuse('clock_advancing', {
      message: 'A clock of the organization is being advanced. Wait until that request has finished.',
      retryAfterSeconds: 1,
    });
  if (error instanceof OrganizationGone) return refuse('resource_not_found');
  if (error instanceof Busy) {
    const { message, retryAfterSeconds } = error;
    return refuse('service_unavailable', { message, retryAfterSeconds });
  }
  throw error;
}
