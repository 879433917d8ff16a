import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import type { AnyResource, Change, LoadedRows, Read, RowRead, StatefulRow } from '../kernel/command.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import { type IdKind, isId } from '../kernel/ids.ts';
import { type AnyRow, type KeyLock, selectByKeys } from '../kernel/table.ts';
import type { TimerRow } from '../resources/clocks/timer-table.ts';
import { eventsTable } from '../resources/events/table.ts';
import { findBalances } from './balances.ts';
import type { Submission, Target } from './submission.ts';

interface Entry {
  readonly resource: IdKind;
  readonly orgId: string;
  readonly id: string;
  lock: KeyLock;
  /** As it is in the database, and as it shall be. */
  stored: AnyRow | undefined;
  row: AnyRow | undefined;
  isTimed: boolean;
  /** It was not there at the first look. */
  wasAbsent: boolean;
}

interface Balance {
  readonly orgId: string;
  readonly account: string;
  readonly currency: string;
  amount: bigint;
}

/** Events are not a resource with a lifecycle, but a replay is about one. */
const events: Pick<AnyResource, 'name' | 'table'> = { name: 'event', table: eventsTable };

const strength: Readonly<Record<KeyLock, number>> = { none: 0, share: 1, update: 2 };

/**
 * The rows of one batch. Every declared row has an entry: loaded, or known to be absent. A command sees the effects of
 * those before it; a row that is made and then changed in one batch is written once, as it stands at the end.
 */
export class WorkingSet {
  readonly #resources: ReadonlyMap<string, AnyResource>;
  readonly #readable: readonly Pick<AnyResource, 'name' | 'table'>[];
  readonly #entries = new Map<string, Entry>();
  readonly #balances = new Map<string, Balance>();
  readonly #reads = new Map<Submission, RowRead[]>();

  constructor(resources: ReadonlyMap<string, AnyResource>) {
    this.#resources = resources;
    this.#readable = [...resources.values(), events];
  }

  declare(submission: Submission): void {
    const { kind, input, context, target } = submission;
    this.#reads.set(submission, []);
    this.#declare(submission, kind.reads(input, context));
    if (target?.isClaimed) this.declareRow(context.orgId, { ...target, lock: 'none' });
  }

  /** The record that a command is about, unless the organization does not have it. */
  targetOf({ target, context: { orgId } }: Submission): Target | null {
    if (!target?.isClaimed) return target ?? null;
    return this.row(target.resource, orgId, target.id) ? target : null;
  }

  #declare(submission: Submission, reads: readonly Read[]): void {
    const { orgId } = submission.context;
    for (const read of reads) {
      if ('balance' in read) {
        const { balance: account, currency } = read;
        this.#balances.set(balanceKey(orgId, account, currency), { orgId, account, currency, amount: 0n });
      } else {
        this.declareRow(orgId, read);
        this.#reads.get(submission)?.push(read);
      }
    }
  }

  declareRow(orgId: string, { resource, id, lock }: RowRead): void {
    const key = entryKey(resource, orgId, id);
    const known = this.#entries.get(key);
    if (!known) {
      const absent = { stored: undefined, row: undefined, isTimed: false, wasAbsent: false };
      this.#entries.set(key, { resource, orgId, id, lock, ...absent });
    } else if (strength[lock] > strength[known.lock]) {
      known.lock = lock;
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
    const finders = [...this.#reads.keys()].filter(({ kind }) => kind.thenReads !== undefined);
    if (finders.length === 0) return;
    const first = [...this.#entries.values()];
    await this.#read(connection, first, 'unlocked');
    for (const entry of first) entry.wasAbsent = entry.row === undefined;
    for (const submission of finders) {
      const { kind, input } = submission;
      this.#declare(submission, kind.thenReads?.(input, this.rowsFor(submission)) ?? []);
    }
  }

  /** Resources in the order of the registry and keys in sorted order: all batches of all nodes lock in one order. */
  async load(connection: Connection): Promise<void> {
    const rows = this.#read(connection, [...this.#entries.values()], 'locked');
    // Sent behind the locks on one connection, so what they guard is seen as it is.
    const balances = this.#balances.size === 0 ? undefined : this.#readBalances(connection);
    await Promise.all([rows, balances]);
    // What was made between the two looks may name rows that were not asked for: the batch looks again from the start.
    const isNew = [...this.#entries.values()].some(({ wasAbsent, row }) => wasAbsent && row !== undefined);
    if (isNew) throw new DatabaseFailure('conflict', new Error('a row was made between two looks'));
  }

  /** Rows that are found to be needed after all locks are taken; they are not locked. */
  async loadMore(connection: Connection, reads: readonly (RowRead & { orgId: string })[]): Promise<void> {
    for (const { orgId, ...read } of reads) this.declareRow(orgId, { ...read, lock: 'none' });
    const entries = reads.map(({ orgId, resource, id }) => this.#entry(resource, orgId, id));
    await this.#read(
      connection,
      entries.filter((entry) => entry !== undefined),
      'unlocked',
    );
  }

  async #read(connection: Connection, entries: readonly Entry[], mode: 'locked' | 'unlocked'): Promise<void> {
    const lookups: Promise<void>[] = [];
    for (const { name, table } of this.#readable) {
      const wanted = entries.filter(({ resource, id }) => resource === name && isId(name, id));
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

  async #readBalances(connection: Connection): Promise<void> {
    const wanted = [...this.#balances.values()];
    for (const { orgId, account, currency, balance } of await findBalances(connection, wanted)) {
      const known = this.#balances.get(balanceKey(orgId, account, currency));
      assert(known, `the balance of ${account} came back although it was not asked for`);
      known.amount = balance;
    }
  }

  rowsFor(submission: Submission): LoadedRows {
    const { orgId } = submission.context;
    return {
      get: <Row>(resource: IdKind, id: string) => {
        const entry = this.#entry(resource, orgId, id);
        assert(entry, `${submission.kind.name} reads ${resource} ${id}, which it did not declare`);
        return entry.row as Row | undefined;
      },
      balance: (account, currency) => {
        const known = this.#balances.get(balanceKey(orgId, account, currency));
        assert(known, `${submission.kind.name} reads the balance of ${account}, which it did not declare`);
        return known.amount;
      },
    };
  }

  /** The application whose record a command is about to change: that one's clock says what time it is. */
  appChangedBy(submission: Submission): string | undefined {
    const { orgId } = submission.context;
    for (const { resource, id, lock } of this.#reads.get(submission) ?? []) {
      if (lock !== 'update') continue;
      const row = this.#entry(resource, orgId, id)?.row as Partial<StatefulRow> | undefined;
      if (row?.appId !== undefined) return row.appId;
    }
    return undefined;
  }

  has(resource: IdKind, orgId: string, id: string): boolean {
    return this.#entry(resource, orgId, id) !== undefined;
  }

  /** A row as it stands now, for the engine itself. */
  row(resource: IdKind, orgId: string, id: string): AnyRow | undefined {
    return this.#entry(resource, orgId, id)?.row;
  }

  lockOf(resource: IdKind, orgId: string, id: string): KeyLock {
    return this.#entry(resource, orgId, id)?.lock ?? 'none';
  }

  /** All rows of a kind as the database has them now, or will when the batch is written. */
  all(resource: IdKind): readonly { readonly id: string; readonly row: AnyRow | undefined }[] {
    return [...this.#entries.values()].filter((entry) => entry.resource === resource);
  }

  /** A command changes rows of its own organization only. */
  apply({ resource, row, entries }: Change, orgId: string): void {
    assert(row.orgId === orgId, `a command of ${orgId} changes ${row.id} of ${row.orgId}`);
    this.declareRow(row.orgId, { resource, id: row.id, lock: 'none' });
    const entry = this.#entry(resource, row.orgId, row.id);
    if (entry) entry.row = row;
    if (this.#balances.size === 0) return;
    for (const { account, currency, amount } of entries.flatMap(({ postings }) => postings)) {
      const known = this.#balances.get(balanceKey(row.orgId, account, currency));
      if (known) known.amount += amount;
    }
  }

  /** The timer of this record is written, whether it changed or not. */
  retime(resource: IdKind, row: AnyRow): void {
    const entry = this.#entry(resource, row.orgId, row.id);
    assert(entry, `the timer of ${row.id} is written, but the record was not declared`);
    entry.isTimed = true;
  }

  /** What must be written of one resource: rows that are new, and rows that were there before. */
  changed(resource: IdKind): { readonly inserts: readonly AnyRow[]; readonly updates: readonly AnyRow[] } {
    const inserts: AnyRow[] = [];
    const updates: AnyRow[] = [];
    for (const { resource: kind, row, stored } of this.#entries.values()) {
      if (kind !== resource || row === stored || !row) continue;
      (stored ? updates : inserts).push(row);
    }
    return { inserts, updates };
  }

  /** Timers follow from their records. Most changes move none, and those write none. */
  timers(): { readonly put: readonly TimerRow[]; readonly removed: readonly TimerRow[] } {
    const put: TimerRow[] = [];
    const removed: TimerRow[] = [];
    for (const { resource, row, stored, isTimed } of this.#entries.values()) {
      const due = this.#resources.get(resource)?.due;
      if (!due || !row || (row === stored && !isTimed)) continue;
      const before = stored ? due(stored) : null;
      const after = due(row);
      if (!isTimed && before?.at === after?.at) continue;
      const { orgId, id, appId = '' } = row as StatefulRow;
      const timer = { orgId, id, appId, resource, dueAt: (after ?? before)?.at ?? 0 };
      (after ? put : removed).push(timer);
    }
    return { put, removed };
  }

  #entry(resource: IdKind, orgId: string, id: string): Entry | undefined {
    return this.#entries.get(entryKey(resource, orgId, id));
  }

  #found(resource: IdKind, row: AnyRow): void {
    const entry = this.#entry(resource, row.orgId, row.id);
    assert(entry, `${resource} ${row.id} came back although it was not asked for`);
    entry.stored = row;
    entry.row = row;
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

function balanceKey(orgId: string, account: string, currency: string): string {
  return `${orgId} ${account} ${currency}`;
}
