import { defaultApplicationSettings } from '../../kernel/application-settings.ts';
import { assert } from '../../kernel/assert.ts';
import type { Change, CommandContext, CommandKind, LoadedRows, StatefulRow } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import type { EventRow } from '../../kernel/event.ts';
import { encodeSuffix, formatId, type Id, type IdKind, isId, noApplication } from '../../kernel/ids.ts';
import type { AnyRow, Instant } from '../../kernel/table.ts';
import { type Due, dayMs } from '../../kernel/time.ts';

/** When every example begins. */
export const startOfExamples: Instant = Date.parse('2026-11-16T09:00:00.000Z');

const stepMs = 1_000;

export type Present = (resource: IdKind, row: StatefulRow) => Presented;

/**
 * Runs the examples: the commands decide as in the engine, on rows in memory, with a clock that advances one second per
 * command. Its only state is its records and their events. `begin` resets the clock and the ids for the next example, so
 * that an additional example does not change the others.
 */
export class ExampleRunner {
  readonly #present: Present;
  readonly #rows = new Map<string, StatefulRow>();
  readonly #newest = new Map<IdKind, string>();
  readonly #events = new Map<string, EventRow>();
  #now = startOfExamples;
  #commands = 0;

  constructor(present: Present) {
    this.#present = present;
  }

  /** The first emitted event of each type. */
  get events(): ReadonlyMap<string, EventRow> {
    return this.#events;
  }

  begin(daysLater = 0): void {
    this.#now = startOfExamples + daysLater * dayMs;
    this.#commands = 0;
  }

  /** The newest record of a kind. */
  last<Kind extends IdKind>(resource: Kind): Id<Kind> {
    const id = this.#newest.get(resource);
    assert(id !== undefined && isId(resource, id), `no example has created a ${resource} yet`);
    return id;
  }

  run<Input, Result>({ name, decide }: CommandKind<Input, Result>, input: Input): void {
    const context = this.#context();
    const decision = decide(input, context, this.#loaded);
    assert(decision.ok, `the example command ${name} was refused: ${decision.ok ? '' : decision.code}`);
    this.#apply(decision.changes, context);
    for (const event of decision.events ?? []) this.#emit(event);
  }

  /** Advances the time until the timer of the newest record of a kind fires. */
  wait<Row extends StatefulRow, Action extends string>(
    resource: IdKind,
    dueOf: (row: Row) => Due<Action> | null,
    fire: (
      row: Row,
      due: Due<Action>,
      context: CommandContext,
      rows: LoadedRows,
    ) => { readonly changes: readonly Change[] },
  ): void {
    const id = this.last(resource);
    const row = this.#loaded.get<Row>(resource, id);
    const due = row && dueOf(row);
    assert(row && due, `${id} has no timer`);
    this.#now = due.at;
    const context = this.#context();
    this.#apply(fire(row, due, context, this.#loaded).changes, context);
  }

  #context(): CommandContext {
    const now = this.#now;
    this.#now += stepMs;
    this.#commands += 1;
    const suffix = suffixAt(now, this.#commands);
    return {
      orgId: formatId('organization', suffixAt(startOfExamples - dayMs, 1)),
      appId: formatId('application', suffixAt(startOfExamples - dayMs, 2)),
      actor: { kind: 'system', id: 'examples' },
      requestId: formatId('request', suffix),
      ip: null,
      settings: defaultApplicationSettings,
      now,
      wallNow: now,
      suffix,
    };
  }

  readonly #loaded: LoadedRows = {
    get: <Row extends AnyRow>(_resource: IdKind, id: string) => this.#rows.get(id) as Row | undefined,
    balance: (account) => {
      throw new Error(`no example spends from ${account}`);
    },
  };

  #apply(changes: readonly Change[], { requestId }: CommandContext): void {
    for (const { resource, row, from, event, emitsNoEvent } of changes) {
      this.#rows.set(row.id, row);
      if (from === null) this.#newest.set(resource, row.id);
      if (emitsNoEvent || this.#events.has(event)) continue;
      this.#emit({
        orgId: row.orgId,
        appId: row.appId ?? noApplication,
        type: event,
        resource,
        resourceId: row.id,
        sequence: row.version,
        requestId,
        data: JSON.stringify(this.#present(resource, row)),
        createdAt: row.updatedAt,
      });
    }
  }

  /** Ids are unique across examples, because receivers identify events by id. */
  #emit(event: Omit<EventRow, 'id'>): void {
    if (this.#events.has(event.type)) return;
    const id = formatId('event', suffixAt(event.createdAt, this.#events.size + 1));
    this.#events.set(event.type, { ...event, id });
  }
}

/** The suffix of a UUIDv7 of this instant, with a counter in place of the random bits. */
function suffixAt(at: Instant, count: number): string {
  const hex = `${at.toString(16).padStart(12, '0')}70008000${count.toString(16).padStart(12, '0')}`;
  return encodeSuffix(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
}
