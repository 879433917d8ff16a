import type { Committed } from '../engine/batch.ts';
import type { CoverageJournal } from '../engine/coverage-journal.ts';
import type { Change } from '../kernel/command.ts';
import { moveName, stateName, type Universe } from '../resources/coverage/commands.ts';
import type { CoverageKind, CoverageRow, CoverageSink } from '../resources/coverage/table.ts';
import { WriteBehind } from './write-behind.ts';

export interface CoverageSettings {
  readonly universe: Universe;
  readonly journal: Pick<CoverageJournal, 'write'>;
  readonly onError: (error: unknown, what: string) => void;
}

// Reading writes first, so this is how long a count may be away in a crash, or on another node.
const flushMs = 1_000;
// Counters take two kilobytes for each organization that does something between two writes.
const organizationsInFlushMax = 500;
const organizationsMax = 5_000;
const refusedStatusMin = 400;

type Tree<Branch> = Map<string, Branch>;

/** Where a change is counted; undefined for what is not part of coverage. */
interface ChangePlaces {
  readonly state: number | undefined;
  readonly move: number | undefined;
}

/**
 * Counts what organizations meet: by what is committed, whoever asked for it, and by what keys are answered. A count is one
 * step in an array; a timer writes what has come together.
 */
export class Coverage implements CoverageSink {
  readonly #universe: Universe;
  /** Where the counter of an item is, by its kind and name. */
  readonly #places: Readonly<Record<CoverageKind, ReadonlyMap<string, number>>>;
  /** By resource, action, and where it led from and to: no more than the machines have moves. */
  readonly #changePlaces: Tree<Tree<Tree<Map<string, ChangePlaces>>>> = new Map();
  readonly #behind: WriteBehind<readonly CoverageRow[]>;
  #counts = new Map<string, Uint32Array>();

  constructor({ universe, journal, onError }: CoverageSettings) {
    this.#universe = universe;
    const placesOf = (kind: CoverageKind) =>
      new Map(universe.flatMap((item, i) => (item.kind === kind ? [[item.name, i] as const] : [])));
    this.#places = {
      state: placesOf('state'),
      move: placesOf('move'),
      event: placesOf('event'),
      operation: placesOf('operation'),
      error: placesOf('error'),
    };
    this.#behind = new WriteBehind({
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

  /** What this process has just committed. */
  onCommit({ changes, allEvents }: Pick<Committed, 'changes' | 'allEvents'>): void {
    for (const change of changes) {
      const { state, move } = this.#placesOf(change);
      this.#count(change.row.orgId, state);
      this.#count(change.row.orgId, move);
    }
    for (const { orgId, type } of allEvents) this.#count(orgId, this.#places.event.get(type));
  }

  /** An operation is met when it was carried out; one that was refused has met the error. */
  answered(orgId: string, operation: string, status: number, errorCode: string | null): void {
    if (errorCode !== null) this.#count(orgId, this.#places.error.get(errorCode));
    else if (status < refusedStatusMin) this.#count(orgId, this.#places.operation.get(operation));
  }

  flush(): Promise<void> {
    return this.#behind.flush();
  }

  close(): Promise<void> {
    return this.#behind.close();
  }

  /** Kept once found: the names of a state and a move, put together anew for each change, would take longer than the rest. */
  #placesOf({ resource, action, from, row }: Change): ChangePlaces {
    const known = within(within(within(this.#changePlaces, resource), action), from ?? '');
    let places = known.get(row.status);
    if (!places) {
      places = {
        state: this.#places.state.get(stateName(resource, row.status)),
        move: this.#places.move.get(moveName(resource, action, from, row.status)),
      };
      known.set(row.status, places);
    }
    return places;
  }

  #count(orgId: string, place: number | undefined): void {
    if (place === undefined) return;
    let counts = this.#counts.get(orgId);
    if (!counts) {
      if (this.#counts.size >= organizationsMax) return;
      counts = new Uint32Array(this.#universe.length);
      this.#counts.set(orgId, counts);
      this.#behind.stir();
    }
    counts[place] = (counts[place] ?? 0) + 1;
  }

  #take(): readonly CoverageRow[] {
    const taken = this.#counts;
    this.#counts = new Map();
    return [...taken].flatMap(([orgId, counts]) =>
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
