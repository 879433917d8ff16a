import { type Static, Type } from 'typebox';
import { AnyAmount } from '../../kernel/currency.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute, Principal } from '../../kernel/route.ts';
import { nullable, resource, strict, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { clockNow, minuteMs, secondMs } from '../../kernel/time.ts';
import { findClock } from '../clocks/store.ts';
import { findRequestMinutes } from '../requests/store.ts';
import { countDeliveries, countedMax, countPayments, hasRecords } from './overview-store.ts';
import {
  chooseWindow,
  edgesOf,
  isMoved,
  presentPayments,
  presentRequests,
  presentWebhooks,
  type RangeName,
  rangeNames,
  rowsIn,
  type TimeBase,
  timeBases,
  total,
  type Window,
  windowOf,
  windowsOf,
} from './overview-views.ts';
import { type SharedRead, sharedReads } from './shared-reads-store.ts';

const OverviewQuery = strict({
  range: Type.Optional(
    Type.Enum([...rangeNames], { description: 'By default the shortest range with most of the records.' }),
  ),
  time: Type.Optional(
    Type.Enum([...timeBases], {
      description: 'By default sandbox time if the application clock was moved, else real time.',
    }),
  ),
});
type Requested = Static<typeof OverviewQuery>;

const Count = Type.Integer({ minimum: 0 });
const isCapped = Type.Boolean({ description: 'Whether there are more records than are counted.' });
const percentiles = { p50Ms: nullable(Type.Number()), p95Ms: nullable(Type.Number()) };
const attempts = (outcome: string) =>
  Type.Integer({
    minimum: 0,
    description: `Attempts that ${outcome}, in the bucket of their delivery. Every retry counts.`,
  });
const outcomes = { succeeded: attempts('succeeded'), failed: attempts('failed') };

const OverviewSchema = resource('overview', ['ok'], {
  range: Type.Enum([...rangeNames], { description: 'The requested range, or the default.' }),
  time: Type.Enum([...timeBases], { description: 'The requested time, or the default.' }),
  from: Time,
  to: Time,
  bucketSeconds: Type.Integer(),
  isEmpty: Type.Boolean({ description: 'Whether the organization has no payment, transfer or customer.' }),
  payments: Type.Object({
    byStatus: Type.Array(Type.Object({ status: Type.String(), count: Count })),
    byBucket: Type.Array(Type.Object({ at: Time, status: Type.String(), count: Count })),
    volume: Type.Array(Type.Object({ at: Time, currency: Type.String(), count: Count, amount: AnyAmount })),
    currencies: Type.Array(Type.String()),
    ahead: Type.Integer({
      minimum: 0,
      description: 'Payments dated after the range: the clock was set back, or another application is ahead.',
    }),
    isCapped,
  }),
  webhooks: Type.Object({
    byBucket: Type.Array(Type.Object({ at: Time, ...outcomes })),
    ...outcomes,
    pending: Type.Integer({ minimum: 0, description: 'Pending deliveries.' }),
    isCapped,
  }),
  requests: Type.Object({
    from: Type.String({ ...Time, description: 'Requests are always counted in real time.' }),
    to: Time,
    byBucket: Type.Array(
      Type.Object({ at: Time, count: Count, clientErrors: Count, serverErrors: Count, ...percentiles }),
    ),
    count: Count,
    errorRate: Type.Number({ minimum: 0, maximum: 1 }),
    ...percentiles,
    notKept: Type.Integer({ minimum: 0, description: 'Requests that were counted but not logged.' }),
  }),
});

/** Records are counted for the organization, requests for the selected application. */
type OverviewScope = Pick<Principal, 'orgId' | 'appId'>;

async function countIn(
  reader: Reader,
  { orgId }: OverviewScope,
  range: RangeName | undefined,
  time: TimeBase,
  now: Instant,
) {
  const windows = windowsOf(range, now);
  const edges = edgesOf(windows);
  const [payments, deliveries] = await Promise.all([
    countPayments(reader, orgId, time, edges),
    countDeliveries(reader, orgId, time, edges),
  ]);
  const all = [...payments, ...deliveries];
  const window = chooseWindow(windows, all);
  return { window, time, now, payments, deliveries, scanned: total(all), shown: total(rowsIn(all, window)) };
}

type Counts = Awaited<ReturnType<typeof countIn>>;

/**
 * Sandbox time is the default if the clock was moved, because only there its moves are visible. Not if all records are out of its
 * ranges, such as after an advance by a year: then real time shows more.
 */
async function countRecords(
  reader: Reader,
  scope: OverviewScope,
  requested: Requested,
  wallNow: Instant,
): Promise<Counts> {
  const { range, time } = requested;
  if (time === 'real') return countIn(reader, scope, range, 'real', wallNow);
  const clock = await findClock(reader, scope, wallNow);
  const now = clockNow(clock, wallNow);
  if (time === undefined && !isMoved(clock.frozenAt, now, wallNow))
    return countIn(reader, scope, range, 'real', wallNow);
  const counts = await countIn(reader, scope, range, 'sandbox', now);
  const isOutOfRange = counts.shown === 0 && counts.scanned > 0;
  return time === undefined && isOutOfRange ? countIn(reader, scope, range, 'real', wallNow) : counts;
}

async function readOverview(
  reader: Reader,
  scope: OverviewScope,
  requested: Requested,
  wallNow: Instant,
): Promise<SharedRead<Presented>> {
  const [counts, isFilled] = await Promise.all([
    countRecords(reader, scope, requested, wallNow),
    hasRecords(reader, scope.orgId),
  ]);
  const { window, time, now, payments, deliveries, scanned } = counts;
  const requestWindow: Window = windowOf(window.range, wallNow);
  const requests = await findRequestMinutes(
    reader,
    scope.orgId,
    scope.appId,
    requestWindow.from,
    requestWindow.end,
    requestWindow.bucketMs / minuteMs,
  );
  const overview = {
    object: 'overview',
    sandbox: true,
    status: 'ok',
    range: window.range,
    time,
    from: instantToText(window.from),
    to: instantToText(now),
    bucketSeconds: window.bucketMs / secondMs,
    isEmpty: !isFilled,
    payments: presentPayments(payments, window, countedMax),
    webhooks: presentWebhooks(deliveries, window, countedMax),
    requests: presentRequests(requests, requestWindow, wallNow),
  } as const;
  return { value: overview, scanned };
}

const overviews = sharedReads<Presented>();

export const overviewRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getOverview',
    method: 'GET',
    path: 'overview',
    role: 'viewer',
    level: 'application',
    summary: 'Retrieve statistics of payments, webhooks and requests, in sandbox time or real time',
    query: OverviewQuery,
    response: OverviewSchema,
    responseName: 'Overview',
    flushBefore: 'requests',
    read: ({ reader, principal, query, now }) => {
      const requested = query as Requested;
      const key = [principal.orgId, principal.appId, requested.range, requested.time].join(' ');
      return overviews(reader, key, now, () => readOverview(reader, principal, requested, now));
    },
  },
];
