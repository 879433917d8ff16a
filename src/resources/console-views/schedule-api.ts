import { Type } from 'typebox';
import { amountText } from '../../kernel/currency.ts';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, resource, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { clockNow, type Due } from '../../kernel/time.ts';
import { findClock } from '../clocks/store.ts';
import { disputeDue } from '../disputes/machine.ts';
import type { DisputeRow } from '../disputes/table.ts';
import { paymentDue } from '../payments/scenario.ts';
import type { PaymentRow } from '../payments/table.ts';
import { transferDue } from '../transfers/scenario.ts';
import type { TransferRow } from '../transfers/table.ts';
import {
  countAfterInstant,
  findAttemptsAfter,
  findRecords,
  findTimersAfter,
  type ScheduledAttempt,
} from './schedule-store.ts';

const itemsMax = 100;
/** Counting stops here: index entries are read one by one, and nobody needs the exact number. */
const countMax = 1_000;

const kinds = ['payment', 'dispute', 'transfer', 'delivery'] as const;

interface Item {
  readonly at: Instant;
  readonly kind: (typeof kinds)[number];
  readonly id: string;
  readonly action: string;
  readonly label: string;
}

const ScheduleSchema = resource('schedule', ['ok'], {
  now: Time,
  items: Type.Array(
    Type.Object(
      {
        at: Time,
        kind: Type.Enum([...kinds]),
        id: Type.String(),
        action: Type.String({ description: 'The transition that runs, or `attempt` for a delivery.' }),
        label: Type.String({ description: 'The amount of the record, or the event type of the delivery.' }),
      },
      component('ScheduledItem'),
    ),
    { description: `The next ${itemsMax}, in the order of their due times.` },
  ),
  count: Type.Integer({ minimum: 0, description: 'How many are scheduled in total.' }),
  isMore: Type.Boolean({ description: 'Whether there are more: counting stops at a maximum.' }),
});

function itemOf(kind: Item['kind'], id: string, due: Due | null, label: string): readonly Item[] {
  // A timer that is about to be rewritten: its record has moved and waits for nothing.
  return due === null ? [] : [{ at: due.at, kind, id, action: due.action, label }];
}

function attemptItem({ id, dueAt, eventType }: ScheduledAttempt): Item {
  return { at: dueAt, kind: 'delivery', id, action: 'attempt', label: eventType };
}

type Timers = Awaited<ReturnType<typeof findTimersAfter>>;

async function timerItems(
  reader: Reader,
  orgId: Parameters<typeof findRecords>[1],
  timers: Timers,
): Promise<readonly Item[]> {
  const idsOf = (kind: Item['kind']) => timers.filter(({ resource: of }) => of === kind).map(({ id }) => id);
  const [payments, disputes, transfers] = await Promise.all([
    findRecords<PaymentRow>(reader, orgId, 'payment', idsOf('payment')),
    findRecords<DisputeRow>(reader, orgId, 'dispute', idsOf('dispute')),
    findRecords<TransferRow>(reader, orgId, 'transfer', idsOf('transfer')),
  ]);
  return [
    ...payments.flatMap((row) =>
      itemOf('payment', row.id, paymentDue(row), amountText(row.amount, row.currency)),
    ),
    ...disputes.flatMap((row) =>
      itemOf('dispute', row.id, disputeDue(row), amountText(row.amount, row.currency)),
    ),
    ...transfers.flatMap((row) =>
      itemOf('transfer', row.id, transferDue(row), amountText(row.sourceAmount, row.sourceCurrency)),
    ),
  ];
}

export const scheduleRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getSchedule',
    method: 'GET',
    path: 'schedule',
    role: 'viewer',
    level: 'application',
    summary: 'What falls due next on the application clock',
    response: ScheduleSchema,
    responseName: 'Schedule',
    read: async ({ reader, principal, now: wallNow }) => {
      const now = clockNow(await findClock(reader, principal, wallNow), wallNow);
      const [timers, attempts, count] = await Promise.all([
        findTimersAfter(reader, principal, now, itemsMax),
        findAttemptsAfter(reader, principal, now, itemsMax),
        countAfterInstant(reader, principal, now, countMax + 1),
      ]);
      const items = [...(await timerItems(reader, principal.orgId, timers)), ...attempts.map(attemptItem)]
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .slice(0, itemsMax);
      return {
        object: 'schedule',
        sandbox: true,
        status: 'ok',
        now: instantToText(now),
        items: items.map((item) => ({ ...item, at: instantToText(item.at) })),
        count: Math.min(count, countMax),
        isMore: count > countMax,
      };
    },
  },
];
