import { defaultApplicationSettings } from '../../kernel/application-settings.ts';
import { assert } from '../../kernel/assert.ts';
import type { Due } from '../../kernel/clock.ts';
import type { Change, CommandContext, CommandKind, LoadedRows, StatefulRow } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import type { EventRow } from '../../kernel/event.ts';
import { encodeSuffix, formatId, type IdKind } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/table.ts';

/** When every play begins. */
export const startOfExamples: Instant = Date.parse('2026-11-16T09:00:00.000Z');

const dayMs = 86_400_000;
const stepMs = 1_000;

export type Present = (resource: IdKind, row: StatefulRow) => Presented;

/**
 * Where examples are played: the commands decide as they do in the engine, on rows in memory and by a clock that goes a
 * second with each of them. It has no state but its records and what they told; `begin` puts the clock back for the next
 * play, and its ids with it, so that a play more does not change the examples of the others.
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

  /** The first event of each type that was told. */
  get events(): ReadonlyMap<string, EventRow> {
    return this.#events;
  }

  begin(daysLater = 0): void {
    this.#now = startOfExamples + daysLater * dayMs;
    this.#commands = 0;
  }

  /** The record of a kind that was made last. */
  last(resource: IdKind): string {
    const id = this.#newest.get(resource);
    assert(id, `no play has made a ${resource} yet`);
    return id;
  }

  run<Input>({ name, decide }: CommandKind<Input>, input: Input): void {
    const context = this.#context();
    const decision = decide(input, context, this.#loaded);
    assert(decision.ok, `${name} was to be played, and is refused: ${decision.ok ? '' : decision.code}`);
    this.#apply(decision.changes, context);
    for (const event of decision.events ?? []) this.#emit(event);
  }

  /** Lets the time pass until the newest record of a kind does what it waits for. */
  wait<Row extends StatefulRow>(
    resource: IdKind,
    dueOf: (row: Row) => Due | null,
    fire: (
      row: Row,
      due: Due,
      context: CommandContext,
      rows: LoadedRows,
    ) => { readonly changes: readonly Change[] },
  ): void {
    const id = this.last(resource);
    const row = this.#loaded.get<Row>(resource, id);
    const due = row && dueOf(row);
    assert(row && due, `${id} waits for nothing`);
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
    get: <Row>(_resource: IdKind, id: string) => this.#rows.get(id) as Row | undefined,
    balance: (account) => {
      throw new Error(`no play spends from ${account}`);
    },
  };

  #apply(changes: readonly Change[], { requestId }: CommandContext): void {
    for (const { resource, row, from, event, emitsNoEvent } of changes) {
      this.#rows.set(row.id, row);
      if (from === null) this.#newest.set(resource, row.id);
      if (emitsNoEvent || this.#events.has(event)) continue;
      this.#emit({
        orgId: row.orgId,
        id: '',
        appId: row.appId ?? '',
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

  /** Its id is one of its own, whatever play it comes from: receivers tell events apart by it. */
  #emit(event: EventRow): void {
    if (this.#events.has(event.type)) return;
    const id = formatId('event', suffixAt(event.createdAt, this.#events.size + 1));
    this.#events.set(event.type, { ...event, id });
  }
}

/** What a UUIDv7 of that moment becomes when the bits that are random else are a number. */
function suffixAt(at: Instant, count: number): string {
  const hex = `${at.toString(16).padStart(12, '0')}70008000${count.toString(16).padStart(12, '0')}`;
  return encodeSuffix(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
}
