import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import type { AnyResource, Change, LoadedRows, Read } from '../kernel/command.ts';
import { type IdKind, isId } from '../kernel/ids.ts';
import { type AnyRow, type KeyLock, selectByKeys } from '../kernel/table.ts';
import type { Submission } from './submission.ts';

interface Entry {
  readonly resource: IdKind;
  readonly orgId: string;
  readonly id: string;
  lock: KeyLock;
  row: AnyRow | undefined;
  isInDatabase: boolean;
  isChanged: boolean;
}

const strength: Readonly<Record<KeyLock, number>> = { none: 0, share: 1, update: 2 };

/**
 * The rows of one batch. Every declared row has an entry: loaded, or known to be absent. A command sees the effects of
 * those before it; a row that is made and then changed in one batch is written once, as it stands at the end.
 */
export class WorkingSet {
  readonly #resources: ReadonlyMap<string, AnyResource>;
  readonly #entries = new Map<string, Entry>();
  readonly #finders: Submission[] = [];

  constructor(resources: ReadonlyMap<string, AnyResource>) {
    this.#resources = resources;
  }

  declare(submission: Submission): void {
    const { kind, input, context } = submission;
    this.#declare(context.orgId, kind.reads(input, context));
    if (kind.thenReads) this.#finders.push(submission);
  }

  #declare(orgId: string, reads: readonly Read[]): void {
    for (const { resource, id, lock } of reads) {
      const key = entryKey(resource, orgId, id);
      const known = this.#entries.get(key);
      if (!known) {
        this.#entries.set(key, {
          resource,
          orgId,
          id,
          lock,
          row: undefined,
          isInDatabase: false,
          isChanged: false,
        });
      } else if (strength[lock] > strength[known.lock]) {
        known.lock = lock;
      }
    }
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * The first look, for commands that name further rows by what they find. It locks nothing: if each wave locked, two batches
   * could each hold in the first what the other wants in the second. All locks are taken by `load`, in one order.
   */
  async find(connection: Connection): Promise<void> {
    if (this.#finders.length === 0) return;
    await this.#read(connection, 'unlocked');
    for (const submission of this.#finders) {
      const { kind, input, context } = submission;
      this.#declare(context.orgId, kind.thenReads?.(input, this.rowsFor(submission)) ?? []);
    }
  }

  /** Resources in the order of the registry and keys in sorted order: all batches of all nodes lock in one order. */
  load(connection: Connection): Promise<void> {
    return this.#read(connection, 'locked');
  }

  async #read(connection: Connection, mode: 'locked' | 'unlocked'): Promise<void> {
    const lookups: Promise<void>[] = [];
    for (const { name, table } of this.#resources.values()) {
      const wanted = [...this.#entries.values()].filter(
        ({ resource, id }) => resource === name && isId(name, id),
      );
      if (wanted.length === 0) continue;
      wanted.sort((a, b) => (a.orgId === b.orgId ? (a.id < b.id ? -1 : 1) : a.orgId < b.orgId ? -1 : 1));
      const lock = mode === 'unlocked' ? 'none' : strongest(wanted);
      lookups.push(
        connection
          .query<AnyRow>(selectByKeys(table, lock), [
            encodeArray(
              'text',
              wanted.map(({ orgId }) => orgId),
            ),
            encodeArray(
              'text',
              wanted.map(({ id }) => id),
            ),
          ])
          .then((rows) => {
            for (const row of rows) this.#found(name, row);
          }),
      );
    }
    // Sent one behind the other on one connection, so the order of locks is the order of this loop.
    await Promise.all(lookups);
  }

  rowsFor(submission: Submission): LoadedRows {
    const { orgId } = submission.context;
    return {
      get: <Row>(resource: IdKind, id: string) => {
        const entry = this.#entries.get(entryKey(resource, orgId, id));
        assert(entry, `${submission.kind.name} reads ${resource} ${id}, which it did not declare`);
        return entry.row as Row | undefined;
      },
    };
  }

  apply({ resource, row }: Change): void {
    const key = entryKey(resource, row.orgId, row.id);
    const entry = this.#entries.get(key);
    if (entry) {
      entry.row = row;
      entry.isChanged = true;
    } else {
      this.#entries.set(key, {
        resource,
        orgId: row.orgId,
        id: row.id,
        lock: 'none',
        row,
        isInDatabase: false,
        isChanged: true,
      });
    }
  }

  /** What must be written of one resource: rows that are new, and rows that were there before. */
  changed(resource: IdKind): { readonly inserts: readonly AnyRow[]; readonly updates: readonly AnyRow[] } {
    const inserts: AnyRow[] = [];
    const updates: AnyRow[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.resource !== resource || !entry.isChanged || !entry.row) continue;
      (entry.isInDatabase ? updates : inserts).push(entry.row);
    }
    return { inserts, updates };
  }

  #found(resource: IdKind, row: AnyRow): void {
    const entry = this.#entries.get(entryKey(resource, row.orgId, row.id));
    assert(entry, `${resource} ${row.id} came back although it was not asked for`);
    entry.row = row;
    entry.isInDatabase = true;
  }
}

function strongest(entries: readonly Entry[]): KeyLock {
  return entries.reduce<KeyLock>(
    (lock, entry) => (strength[entry.lock] > strength[lock] ? entry.lock : lock),
    'none',
  );
}

function entryKey(resource: IdKind, orgId: string, id: string): string {
  return `${resource} ${orgId} ${id}`;
}
