import { assert } from '../../kernel/assert.ts';
import { clockIdOf, type Due } from '../../kernel/clock.ts';
import {
  type Accepted,
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  type LoadedRows,
  type Read,
  type StatefulRow,
} from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { IdKind } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import type { Instant } from '../../kernel/table.ts';
import { disputeDue, fireDispute } from '../disputes/machine.ts';
import type { DisputeRow } from '../disputes/table.ts';
import { firePayment } from '../payments/advance.ts';
import { paymentDue } from '../payments/scenario.ts';
import type { PaymentRow } from '../payments/table.ts';
import { fireTransfer, transferDue, transferReads } from '../transfers/advance.ts';
import type { TransferRow } from '../transfers/table.ts';
import { type Effect, leaseMs, moveClock, readClock } from './machine.ts';
import type { ClockRow } from './table.ts';

/** How a kind of record waits and what its clock does to it. */
interface Timed<Row extends StatefulRow> {
  readonly due: (row: Row) => Due | null;
  readonly fire: (row: Row, due: Due, context: CommandContext, rows: LoadedRows) => readonly Change[];
  /** What else must be read to fire it. */
  readonly thenReads?: (row: Row) => readonly Read[];
}

const payments: Timed<PaymentRow> = {
  due: paymentDue,
  fire: (row, due, context) =>
    firePayment({ ok: true, row, dispute: null, changes: [] }, due, context).changes,
};

const disputes: Timed<DisputeRow> = {
  due: disputeDue,
  thenReads: ({ paymentId }) => [{ resource: 'payment', id: paymentId, lock: 'update' }],
  fire: (row, due, context, rows) => {
    const payment = rows.get<PaymentRow>('payment', row.paymentId);
    assert(payment, `${row.id} is a dispute of a payment that is not there`);
    return fireDispute({ ok: true, row, payment, changes: [] }, due, context).changes;
  },
};

const transfers: Timed<TransferRow> = {
  due: transferDue,
  thenReads: transferReads,
  fire: (row, due, context, rows) => fireTransfer(row, due.action, { ...context, now: due.at }, rows).changes,
};

// biome-ignore lint/suspicious/noExplicitAny: each kind is used with rows of its own.
const timed: Readonly<Record<string, Timed<any>>> = {
  payment: payments,
  dispute: disputes,
  transfer: transfers,
};

export interface FireTimers {
  readonly timers: readonly { readonly resource: string; readonly id: string }[];
  /** Nothing that is due later is fired: other records, which are not in this round, may be due before it. */
  readonly until: Instant;
  readonly stepsMax: number;
  /** The advance that this is a round of, by its turn; null when the clock simply runs. */
  readonly turn: number | null;
  /** Where the clock has come to at least when the round is over. */
  readonly reach?: Instant;
  /** One for each step, because a step may make a record. */
  readonly suffixes: readonly string[];
}

/**
 * One round of what is due, as one command. It plays the records that it was given like a simulation: always the one that
 * is due first, at its own instant, and what that brings about takes its place in the order. So a batch of hundreds is as
 * exact as one timer at a time, and what moved on meanwhile is left alone, because what is due is asked of the record.
 */
export const fireTimers: CommandKind<FireTimers> = {
  name: 'timers.fire',
  success: 'ok',
  reads: ({ timers, turn }, { appId }) => [
    ...(appId === null
      ? []
      : [{ resource: 'clock', id: clockIdOf(appId), lock: turn === null ? 'share' : 'update' } as const]),
    ...timers.map(({ resource, id }) => ({ resource: resource as IdKind, id, lock: 'update' }) as const),
  ],
  thenReads: ({ timers }, rows) =>
    timers.flatMap(({ resource, id }) => {
      const row = rows.get<StatefulRow>(resource as IdKind, id);
      return row ? (timed[resource]?.thenReads?.(row) ?? []) : [];
    }),
  decide: (input, context, rows) => {
    const clock = readClock(rows, context);
    const { advance } = clock;
    if (input.turn === null) {
      // While a request advances the clock, what is due is brought about by that request.
      const round =
        advance === null ? runTimers(input, Math.min(input.until, context.now), context, rows) : nothing;
      return roundAnswer(clock, round.changes, round);
    }
    const isOwn = advance?.turn === input.turn && advance.requestId === context.requestId;
    if (!isOwn) return refuse('clock_advancing', { retryAfterSeconds: 1 });
    const round = runTimers(input, Math.min(input.until, advance.to), context, rows);
    const reached = Math.max(round.lastAt, clock.frozenAt ?? 0, input.reach ?? 0);
    const frozenAt = Math.min(reached, advance.to);
    const leaseUntil = context.wallNow + leaseMs;
    const moved = moveClock(clock, 'advance', { frozenAt, leaseUntil }, context.wallNow);
    return roundAnswer(moved.row, [...round.changes, moved], round);
  },
};

function roundAnswer(clock: ClockRow, changes: readonly Change[], { happened, waiting }: Round): Accepted {
  return { ...accepted(changes, 'clock', clock), fields: { happened }, timed: waiting };
}

interface Round {
  readonly changes: readonly Change[];
  readonly happened: readonly Effect[];
  /** When the last step was due. */
  readonly lastAt: Instant;
  /** Records that are not due after all: their timers are written anew. */
  readonly waiting: readonly TimedRecord[];
}

const nothing: Round = { changes: [], happened: [], lastAt: 0, waiting: [] };

interface TimedRecord {
  readonly resource: IdKind;
  readonly row: StatefulRow;
}

interface TimerEntry {
  readonly at: Instant;
  readonly id: string;
}

function runTimers(input: FireTimers, until: Instant, context: CommandContext, rows: LoadedRows): Round {
  const records = new Map<string, TimedRecord>();
  const posted = new Map<string, bigint>();
  const queue = new TimerQueue();
  const waiting: TimedRecord[] = [];
  const enqueue = (player: TimedRecord): boolean => {
    records.set(player.row.id, player);
    const due = timed[player.resource]?.due(player.row);
    if (!due || due.at > until) return false;
    queue.add({ at: due.at, id: player.row.id });
    return true;
  };
  for (const { resource, id } of input.timers) {
    const row = rows.get<StatefulRow>(resource as IdKind, id);
    const player = row && { resource: resource as IdKind, row };
    if (player && !enqueue(player)) waiting.push(player);
  }
  const seen: LoadedRows = {
    get: <Row>(resource: IdKind, id: string) =>
      (records.get(id)?.row as Row | undefined) ?? rows.get<Row>(resource, id),
    balance: (account, currency) =>
      rows.balance(account, currency) + (posted.get(`${account} ${currency}`) ?? 0n),
  };
  const changes: Change[] = [];
  let lastAt = 0;
  for (let step = 0; step < input.stepsMax; step += 1) {
    const turn = queue.next();
    if (!turn) break;
    const player = records.get(turn.id);
    const kind = player && timed[player.resource];
    const due = player && kind?.due(player.row);
    // It was moved by what came before it in this round, and took another turn then.
    if (!player || !kind || due?.at !== turn.at) continue;
    const suffix = input.suffixes[step];
    assert(suffix !== undefined, 'a step has an id suffix of its own');
    const made = kind.fire(player.row, due, { ...context, suffix }, seen);
    assert(made.length > 0, `${player.row.id} was due and did not move`);
    changes.push(...made);
    lastAt = Math.max(lastAt, turn.at);
    for (const { resource, row, entries } of made) {
      enqueue({ resource, row });
      for (const { account, currency, amount } of entries.flatMap(({ postings }) => postings)) {
        const key = `${account} ${currency}`;
        posted.set(key, (posted.get(key) ?? 0n) + amount);
      }
    }
  }
  return { changes, happened: changes.map(effectOf), lastAt, waiting };
}

/** Turns in the order of their instants; among equals, of the ids. Few are added to many, so an ordered list will do. */
class TimerQueue {
  readonly #entries: TimerEntry[] = [];

  add(turn: TimerEntry): void {
    let low = 0;
    let high = this.#entries.length;
    // Latest first, so that the next one is taken from the end.
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#entries[middle];
      if (other && isBefore(turn, other)) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, turn);
  }

  next(): TimerEntry | undefined {
    return this.#entries.pop();
  }
}

function isBefore(a: TimerEntry, b: TimerEntry): boolean {
  return a.at === b.at ? a.id < b.id : a.at < b.at;
}

export function effectOf({ resource, row, action, from, event }: Change): Effect {
  return {
    at: instantToText(row.updatedAt),
    type: resource,
    id: row.id,
    action,
    ...(from === null ? {} : { from }),
    to: row.status,
    event,
  };
}
