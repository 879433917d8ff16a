import type { Committed } from '../engine/batch-trail.ts';
import type { CoverageJournal } from '../engine/coverage-journal.ts';
import type { Change } from '../kernel/command.ts';
import type { Id } from '../kernel/ids.ts';
import { moveName, stateName, type Universe } from '../resources/coverage/commands.ts';
import type { CoverageKind, CoverageRow, CoverageSink } from '../resources/coverage/table.ts';
import { WriteBehind } from './write-behind.ts';

export interface CoverageSettings {
  readonly universe: Universe;
  readonly journal: Pick<CoverageJournal, 'write'>;
  readonly onError: (error: unknown, what: string) => void;
}

// Reads flush first, so this is how much a crash can lose, and how old the counts of another node can be.
const flushMs = 1_000;
// Counters take two kilobytes for each organization that is active between two writes.
const organizationsInFlushMax = 500;
const organizationsMax = 5_000;
const refusedStatusMin = 400;

type Tree<Branch> = Map<string, Branch>;

/** Counter indexes for a change; undefined for items that are not part of coverage. */
interface ChangeIndexes {
  readonly state: number | undefined;
  readonly move: number | undefined;
}

/**
 * Counts the states, transitions, events, operations and errors that each organization has covered: from commits, whatever caused
 * them, and from responses to API keys. A count is an increment in an array; a timer writes the accumulated counts.
 */
export class Coverage implements CoverageSink {
  readonly #universe: Universe;
  /** Counter indexes by kind and name of an item. */
  readonly #indexes: Readonly<Record<CoverageKind, ReadonlyMap<string, number>>>;
  /** By resource, action, source and target state; at most as many as the state machines have transitions. */
  readonly #changeIndexes: Tree<Tree<Tree<Map<string, ChangeIndexes>>>> = new Map();
  readonly #writer: WriteBehind<readonly CoverageRow[]>;
  #counts = new Map<Id<'organization'>, Uint32Array>();

  constructor({ universe, journal, onError }: CoverageSettings) {
    this.#universe = universe;
    const indexesOf = (kind: CoverageKind) =>
      new Map(universe.flatMap((item, i) => (item.kind === kind ? [[item.name, i] as const] : [])));
    this.#indexes = {
      state: indexesOf('state'),
      move: indexesOf('move'),
      event: indexesOf('event'),
      operation: indexesOf('operation'),
      error: indexesOf('error'),
    };
    this.#writer = new WriteBehind({
      everyMs: flushMs,
      isEmpty: () => this.#counts.size === 0,
      isFull: () => this.#counts.size >= organizationsInFlushMax,
      take: () => this.#take(),
      write: (rows) => journal.write(rows),
      writesMax: 2,
      onError,
      problem: 'coverage cannot be written',
    });
  }

  /** Called with each batch that this process has committed. */
  onCommit({ changes, allEvents }: Pick<Committed, 'changes' | 'allEvents'>): void {
    for (const change of changes) {
      const { state, move } = this.#indexesOf(change);
      this.#count(change.row.orgId, state);
      this.#count(change.row.orgId, move);
    }
    for (const { orgId, type } of allEvents) this.#count(orgId, this.#indexes.event.get(type));
  }

  /** A successful request covers its operation; a rejected one covers its error code. */
  answered(orgId: Id<'organization'>, operation: string, status: number, errorCode: string | null): void {
    if (errorCode !== null) this.#count(orgId, this.#indexes.error.get(errorCode));
    else if (status < refusedStatusMin) this.#count(orgId, this.#indexes.operation.get(operation));
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  /** Cached: building the names of the state and the transition for each change would cost more than the rest. */
  #indexesOf({ resource, action, from, row }: Change): ChangeIndexes {
    const known = within(within(within(this.#changeIndexes, resource), action), from ?? '');
    let indexes = known.get(row.status);
    if (!indexes) {
      indexes = {
        state: this.#indexes.state.get(stateName(resource, row.status)),
        move: this.#indexes.move.get(moveName(resource, action, from, row.status)),
      };
      known.set(row.status, indexes);
    }
    return indexes;
  }

  #count(orgId: Id<'organization'>, index: number | undefined): void {
    if (index === undefined) return;
    let counts = this.#counts.get(orgId);
    if (!counts) {
      if (this.#counts.size >= organizationsMax) return;
      counts = new Uint32Array(this.#universe.length);
      this.#counts.set(orgId, counts);
      this.#writer.schedule();
    }
    counts[index] = (counts[index] ?? 0) + 1;
  }

  #take(): readonly CoverageRow[] {
    const flushed = this.#counts;
    this.#counts = new Map();
    return [...flushed].flatMap(([orgId, counts]) =>
      this.#universe.flatMap(({ kind, name }, i) => {
        const met = counts[i] ?? 0;
        return met === 0 ? [] : { orgId, kind, name, met: BigInt(met) };
      }),
    );
  }
}

function within<Key, Branch extends Map<string, unknown>>(tree: Map<Key, Branch>, key: Key): Branch {
  let branch = tree.get(key);
  if (!branch) {
    branch = new Map() as Branch;
    tree.set(key, branch);
  }
  return branch;
}
