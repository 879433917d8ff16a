import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import { assert } from '../kernel/assert.ts';
import type {
  AnyResource,
  Change,
  LoadedRows,
  Read,
  RowRead,
  StatefulRow,
  Submission,
  Target,
} from '../kernel/command.ts';
import { type Id, type IdKind, isId, noApplication } from '../kernel/ids.ts';
import { type AnyRow, type KeyLock, selectByKeys } from '../kernel/table.ts';
import type { TimerRow } from '../resources/clocks/timer-table.ts';
import { eventsTable } from '../resources/events/table.ts';
import { findBalances } from './balances.ts';

interface Entry {
  readonly resource: IdKind;
  readonly orgId: Id<'organization'>;
  readonly id: string;
  lock: KeyLock;
  /** The row in the database. */
  stored: AnyRow | undefined;
  /** The row with the changes of the batch. */
  row: AnyRow | undefined;
  /** Writes the timer even if the row did not change. */
  isTimed: boolean;
  /** The row did not exist at the first read. */
  wasAbsent: boolean;
}

/** Ids are plain keys here. The types of declared reads already tie each id kind to its resource. */
interface RowKey {
  readonly resource: IdKind;
  readonly id: string;
  readonly lock: KeyLock;
}

interface Balance {
  readonly orgId: Id<'organization'>;
  readonly account: string;
  readonly currency: string;
  amount: bigint;
}

/** Events are not a resource with a lifecycle, but a replay targets one. */
const events: Pick<AnyResource, 'name' | 'table'> = { name: 'event', table: eventsTable };

const strength: Readonly<Record<KeyLock, number>> = { none: 0, share: 1, update: 2 };

/**
 * The rows of one batch. Every declared row has an entry: loaded, or known to be absent. A command sees the effects of the
 * previous ones. A row that is created and then changed in one batch is written once, in its final state.
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

  /** The target of a command, unless the organization has no such record. */
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

  declareRow(orgId: Id<'organization'>, { resource, id, lock }: RowKey): void {
    const key = entryKey(resource, orgId, id);
    const existing = this.#entries.get(key);
    if (!existing) {
      const absent = { stored: undefined, row: undefined, isTimed: false, wasAbsent: false };
      this.#entries.set(key, { resource, orgId, id, lock, ...absent });
    } else if (strength[lock] > strength[existing.lock]) {
      existing.lock = lock;
    }
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * The first read, for commands whose further reads depend on the rows they find. It takes no locks: if both reads locked, two
   * batches could each hold a row from the first that the other needs in the second. `load` takes all locks, in one order.
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

  /** Resources in registry order and keys in sorted order: all batches of all nodes lock in the same order. */
  async load(connection: Connection): Promise<void> {
    const rows = this.#read(connection, [...this.#entries.values()], 'locked');
    // Sent after the locks on the same connection, so it reads the state that the locks protect.
    const balances = this.#balances.size === 0 ? undefined : this.#readBalances(connection);
    await Promise.all([rows, balances]);
    // A row created between the two reads may refer to rows that were not requested: the batch starts over.
    const hasAppeared = [...this.#entries.values()].some(
      ({ wasAbsent, row }) => wasAbsent && row !== undefined,
    );
    if (hasAppeared) throw new DatabaseFailure('conflict', new Error('a row was created between two reads'));
  }

  /** Loads rows that turn out to be needed after all locks are taken, without locking them. */
  async loadMore(
    connection: Connection,
    reads: readonly (RowKey & { orgId: Id<'organization'> })[],
  ): Promise<void> {
    for (const { orgId, ...read } of reads) this.declareRow(orgId, { ...read, lock: 'none' });
    const entries = reads.map(({ orgId, resource, id }) => this.#entry(resource, orgId, id));
    await this.#read(
      connection,
      entries.filter((entry) => entry !== undefined),
      'unlocked',
    );
  }

  async #read(connection: Connection, entries: readonly Entry[], mode: 'locked' | 'unlocked'): Promise<void> {
    const queries: Promise<void>[] = [];
    for (const { name, table } of this.#readable) {
      const wanted = entries.filter(({ resource, id }) => resource === name && isId(name, id));
      if (wanted.length === 0) continue;
      wanted.sort((a, b) => (a.orgId === b.orgId ? (a.id < b.id ? -1 : 1) : a.orgId < b.orgId ? -1 : 1));
      const lock = mode === 'unlocked' ? 'none' : strongest(wanted);
      queries.push(
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
            for (const row of rows) this.#addLoaded(name, row);
          }),
      );
    }
    // Sent one after the other on one connection, so the lock order is the order of this loop.
    await Promise.all(queries);
  }

  async #readBalances(connection: Connection): Promise<void> {
    const wanted = [...this.#balances.values()];
    for (const { orgId, account, currency, balance: amount } of await findBalances(connection, wanted)) {
      const balance = this.#balances.get(balanceKey(orgId, account, currency));
      assert(balance, `the database returned the balance of ${account}, which was not requested`);
      balance.amount = amount;
    }
  }

  rowsFor(submission: Submission): LoadedRows {
    const { orgId } = submission.context;
    return {
      get: <Row extends AnyRow>(resource: IdKind, id: string) => {
        const entry = this.#entry(resource, orgId, id);
        assert(entry, `${submission.kind.name} reads ${resource} ${id}, which it did not declare`);
        return entry.row as Row | undefined;
      },
      balance: (account, currency) => {
        const balance = this.#balances.get(balanceKey(orgId, account, currency));
        assert(balance, `${submission.kind.name} reads the balance of ${account}, which it did not declare`);
        return balance.amount;
      },
    };
  }

  /** The application whose record the command changes: the command uses the clock of that application. */
  appChangedBy(submission: Submission): Id<'application'> | undefined {
    const { orgId } = submission.context;
    for (const { resource, id, lock } of this.#reads.get(submission) ?? []) {
      if (lock !== 'update') continue;
      const row = this.#entry(resource, orgId, id)?.row as Partial<StatefulRow> | undefined;
      if (row?.appId !== undefined) return row.appId;
    }
    return undefined;
  }

  has(resource: IdKind, orgId: Id<'organization'>, id: string): boolean {
    return this.#entry(resource, orgId, id) !== undefined;
  }

  /** The current state of a row, for the engine itself. */
  row(resource: IdKind, orgId: Id<'organization'>, id: string): AnyRow | undefined {
    return this.#entry(resource, orgId, id)?.row;
  }

  lockOf(resource: IdKind, orgId: Id<'organization'>, id: string): KeyLock {
    return this.#entry(resource, orgId, id)?.lock ?? 'none';
  }

  /** All rows of a resource, with the changes of the batch. */
  all(resource: IdKind): readonly { readonly id: string; readonly row: AnyRow | undefined }[] {
    return [...this.#entries.values()].filter((entry) => entry.resource === resource);
  }

  /** Applies a change. A command may change rows only in its own organization. */
  apply({ resource, row, entries }: Change, orgId: Id<'organization'>): void {
    assert(row.orgId === orgId, `a command of ${orgId} changes ${row.id} of ${row.orgId}`);
    this.declareRow(row.orgId, { resource, id: row.id, lock: 'none' });
    const entry = this.#entry(resource, row.orgId, row.id);
    if (entry) entry.row = row;
    if (this.#balances.size === 0) return;
    for (const { account, currency, amount } of entries.flatMap(({ postings }) => postings)) {
      const balance = this.#balances.get(balanceKey(row.orgId, account, currency));
      if (balance) balance.amount += amount;
    }
  }

  /** Writes the timer of this record, whether the record changed or not. */
  retime(resource: IdKind, row: AnyRow): void {
    const entry = this.#entry(resource, row.orgId, row.id);
    assert(entry, `cannot write the timer of ${row.id}: the record was not declared`);
    entry.isTimed = true;
  }

  /** The rows of one resource to write: new rows, and changed rows that already exist. */
  changed(resource: IdKind): { readonly inserts: readonly AnyRow[]; readonly updates: readonly AnyRow[] } {
    const inserts: AnyRow[] = [];
    const updates: AnyRow[] = [];
    for (const { resource: kind, row, stored } of this.#entries.values()) {
      if (kind !== resource || row === stored || !row) continue;
      (stored ? updates : inserts).push(row);
    }
    return { inserts, updates };
  }

  /** Timers are derived from their records. Most changes do not move a timer, and then nothing is written. */
  timers(): { readonly put: readonly TimerRow[]; readonly removed: readonly TimerRow[] } {
    const put: TimerRow[] = [];
    const removed: TimerRow[] = [];
    for (const { resource, row, stored, isTimed } of this.#entries.values()) {
      const due = this.#resources.get(resource)?.due;
      if (!due || !row || (row === stored && !isTimed)) continue;
      const before = stored ? due(stored) : null;
      const after = due(row);
      if (!isTimed && before?.at === after?.at) continue;
      const { orgId, id, appId = noApplication } = row as StatefulRow;
      const timer = { orgId, id, appId, resource, dueAt: (after ?? before)?.at ?? 0 };
      (after ? put : removed).push(timer);
    }
    return { put, removed };
  }

  #entry(resource: IdKind, orgId: Id<'organization'>, id: string): Entry | undefined {
    return this.#entries.get(entryKey(resource, orgId, id));
  }

  #addLoaded(resource: IdKind, row: AnyRow): void {
    const entry = this.#entry(resource, row.orgId, row.id);
    assert(entry, `the database returned ${resource} ${row.id}, which was not requested`);
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

function entryKey(resource: IdKind, orgId: Id<'organization'>, id: string): string {
  return `${resource} ${orgId} ${id}`;
}

function balanceKey(orgId: Id<'organization'>, account: string, currency: string): string {
  return `${orgId} ${account} ${currency}`;
}
