import { assert } from '../../kernel/assert.ts';
import {
  type Accepted,
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  type LoadedRows,
  type Read,
  type RowRead,
  type StatefulRow,
} from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { IdKind } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import type { AnyRow, Instant } from '../../kernel/table.ts';
import { clockIdOf } from '../../kernel/time.ts';
import { disputeDue, fireDispute } from '../disputes/machine.ts';
import type { DisputeRow } from '../disputes/table.ts';
import { firePayment } from '../payments/advance.ts';
import { paymentDue } from '../payments/scenario.ts';
import type { PaymentRow } from '../payments/table.ts';
import { fireTransfer, transferReads } from '../transfers/advance.ts';
import { transferDue } from '../transfers/scenario.ts';
import type { TransferRow } from '../transfers/table.ts';
import { type Effect, leaseMs, moveClock, readClock } from './machine.ts';
import type { ClockRow } from './table.ts';

/** The step that a record is due to take. */
interface DueStep {
  readonly at: Instant;
  readonly fire: (context: CommandContext, rows: LoadedRows) => readonly Change[];
}

/** When a kind of record is due, and what its timer does to it. */
interface Timed<Row> {
  readonly due: (row: Row) => DueStep | null;
  /** Additional rows that the step needs. */
  readonly thenReads?: (row: Row) => readonly Read[];
}

const payments: Timed<PaymentRow> = {
  due: (row) => {
    const due = paymentDue(row);
    return (
      due && {
        at: due.at,
        fire: (context) => firePayment({ ok: true, row, dispute: null, changes: [] }, due, context).changes,
      }
    );
  },
};

const disputes: Timed<DisputeRow> = {
  due: (row) => {
    const due = disputeDue(row);
    return (
      due && {
        at: due.at,
        fire: (context, rows) => {
          const payment = rows.get<PaymentRow>('payment', row.paymentId);
          assert(payment, `the payment of ${row.id} is missing`);
          return fireDispute({ ok: true, row, payment, changes: [] }, due, context).changes;
        },
      }
    );
  },
  thenReads: ({ paymentId }) => [{ resource: 'payment', id: paymentId, lock: 'update' }],
};

const transfers: Timed<TransferRow> = {
  due: (row) => {
    const due = transferDue(row);
    return (
      due && {
        at: due.at,
        fire: (context, rows) => fireTransfer({ ok: true, row, changes: [] }, due, context, rows).changes,
      }
    );
  },
  thenReads: transferReads,
};

type Rows = Pick<LoadedRows, 'get'>;

/** The same by record id, for any row type. */
interface TimedKind {
  /** Whether its steps need additional rows. */
  readonly readsMore: boolean;
  readonly due: (row: StatefulRow) => DueStep | null;
  readonly thenReads: (id: string, rows: Rows) => readonly Read[];
}

function timedKind<Row extends StatefulRow>(kind: IdKind, { due, thenReads }: Timed<Row>): TimedKind {
  return {
    readsMore: thenReads !== undefined,
    // The kind of a record is also the kind of its row.
    due: (row) => due(row as Row),
    thenReads: (id, rows) => {
      const row = rows.get<Row>(kind, id);
      return row === undefined ? [] : (thenReads?.(row) ?? []);
    },
  };
}

const timed: Readonly<Record<string, TimedKind>> = {
  payment: timedKind('payment', payments),
  dispute: timedKind('dispute', disputes),
  transfer: timedKind('transfer', transfers),
};

export interface FireTimers {
  readonly timers: readonly { readonly resource: string; readonly id: string }[];
  /** Steps that are due later do not fire: records outside this round may be due before them. */
  readonly until: Instant;
  readonly stepsMax: number;
  /** The `turn` of the advance that this round belongs to; null when the clock is running. */
  readonly turn: number | null;
  /** The earliest time that the clock may have after the round. */
  readonly reach?: Instant;
  /** One for each step, because a step may create a record. */
  readonly suffixes: readonly string[];
}

/**
 * One round of due timers, as one command. It runs a discrete-event simulation of the given records: always the record that
 * is due first, at its own instant, and steps that this schedules are inserted in order. So a batch of hundreds is as exact
 * as one timer at a time. Records that have moved since are left alone, because the due step is derived from the record.
 */
export const fireTimers: CommandKind<FireTimers, Pick<TimerRound, 'happened'>> = {
  name: 'timers.fire',
  success: 'ok',
  reads: ({ timers, turn }, { appId }) => [
    ...(appId === null
      ? []
      : [{ resource: 'clock', id: clockIdOf(appId), lock: turn === null ? 'share' : 'update' } as const]),
    ...timers.map(({ resource, id }) => ({ resource, id, lock: 'update' }) as RowRead),
  ],
  thenReads: ({ timers }, rows) =>
    timers.flatMap(({ resource, id }) => timed[resource]?.thenReads(id, rows) ?? []),
  decide: (input, context, rows) => {
    const clock = readClock(rows, context);
    const { advance } = clock;
    if (input.turn === null) {
      // While a request advances the clock, only that request fires due timers.
      const round =
        advance === null ? runTimers(input, Math.min(input.until, context.now), context, rows) : emptyRound;
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

const { thenReads: _, ...withoutThenReads } = fireTimers;

/**
 * The same for records whose steps need no further rows. A command with `thenReads` reads all its records twice, first without
 * locks and then with them: for 10,000 payments that was 0.2 s of database time and 0.2 s of ours.
 */
const fireIndependentTimers: typeof fireTimers = withoutThenReads;

/** The command that fires these timers. */
export function fireTimersOf(timers: FireTimers['timers']): typeof fireTimers {
  return timers.some(({ resource }) => timed[resource]?.readsMore) ? fireTimers : fireIndependentTimers;
}

function roundAnswer(
  clock: ClockRow,
  changes: readonly Change[],
  { happened, waiting }: TimerRound,
): Accepted<Pick<TimerRound, 'happened'>> {
  return { ...accepted(changes, 'clock', clock), result: { happened }, timed: waiting };
}

interface TimerRound {
  readonly changes: readonly Change[];
  readonly happened: readonly Effect[];
  /** When the last step was due. */
  readonly lastAt: Instant;
  /** Records that turned out not to be due: their timers are rewritten. */
  readonly waiting: readonly TimedRecord[];
}

const emptyRound: TimerRound = { changes: [], happened: [], lastAt: 0, waiting: [] };

interface TimedRecord {
  readonly resource: IdKind;
  readonly row: StatefulRow;
}

interface TimerEntry {
  readonly at: Instant;
  readonly id: string;
  readonly record: TimedRecord;
  readonly fire: DueStep['fire'];
}

function runTimers(input: FireTimers, until: Instant, context: CommandContext, rows: LoadedRows): TimerRound {
  const records = new Map<string, TimedRecord>();
  const queue = new TimerQueue();
  const waiting: TimedRecord[] = [];
  const changes: Change[] = [];
  const current: LoadedRows = {
    get: <Row extends AnyRow>(resource: IdKind, id: Row['id']) =>
      (records.get(id)?.row as Row | undefined) ?? rows.get<Row>(resource, id),
    balance: (account, currency) => rows.balance(account, currency) + postedTo(changes, account, currency),
  };
  const enqueue = (record: TimedRecord): boolean => {
    records.set(record.row.id, record);
    const due = timed[record.resource]?.due(record.row);
    if (!due || due.at > until) return false;
    queue.add({ at: due.at, id: record.row.id, record, fire: due.fire });
    return true;
  };
  for (const { resource, id } of input.timers) {
    const row = rows.get<StatefulRow>(resource as IdKind, id);
    const record = row && { resource: resource as IdKind, row };
    if (record && !enqueue(record)) waiting.push(record);
  }
  let lastAt = 0;
  for (let step = 0; step < input.stepsMax; step += 1) {
    const entry = queue.next();
    if (!entry) break;
    // An earlier step in this round moved the record, which then got another queue entry.
    if (records.get(entry.id) !== entry.record) continue;
    const suffix = input.suffixes[step];
    assert(suffix !== undefined, 'every step has its own id suffix');
    const changed = entry.fire({ ...context, suffix }, current);
    assert(changed.length > 0, `${entry.id} was due and did not move`);
    changes.push(...changed);
    lastAt = Math.max(lastAt, entry.at);
    for (const { resource, row } of changed) enqueue({ resource, row });
  }
  return { changes, happened: changes.map(effectOf), lastAt, waiting };
}

/** The amount that earlier steps of the round have posted. Computed on demand: few steps depend on a balance. */
function postedTo(changes: readonly Change[], account: string, currency: string): bigint {
  let sum = 0n;
  for (const { entries } of changes)
    for (const { postings } of entries)
      for (const posting of postings)
        if (posting.account === account && posting.currency === currency) sum += posting.amount;
  return sum;
}

/** Entries ordered by instant, then by id. Few entries are added to many, so a sorted array is enough. */
class TimerQueue {
  readonly #entries: TimerEntry[] = [];

  add(entry: TimerEntry): void {
    let low = 0;
    let high = this.#entries.length;
    // Latest first, so that the next entry is at the end.
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#entries[middle];
      if (other && isBefore(entry, other)) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, entry);
  }

  next(): TimerEntry | undefined {
    return this.#entries.pop();
  }
}

function isBefore(a: TimerEntry, b: TimerEntry): boolean {
  return a.at === b.at ? a.id < b.id : a.at < b.at;
}

function effectOf({ resource, row, action, from, event }: Change): Effect {
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
