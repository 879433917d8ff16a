/**
 * Audits webhook deliveries without any code of the server: compares the responses that clients got, the requests that a receiver got, and
 * the rows of the database, and describes every contradiction.
 */

import type { Query } from '../../support/audit.ts';
import { signaturesOf } from '../../support/verify-signature.ts';
import type { Arrival } from './webhook-receiver.ts';
import type { Endpoint } from './webhook-servers.ts';

export interface Evidence {
  readonly endpoints: readonly Endpoint[];
  readonly arrivals: readonly Arrival[];
  /** Payments whose creation was acknowledged. */
  readonly acknowledged: readonly string[];
  /** Ids of refused requests: no event may carry one. */
  readonly refused: ReadonlySet<string>;
  /** How many sending processes were killed. */
  readonly kills: number;
  /** Endpoints whose deliveries may fail, after all tries of their profile. */
  readonly mayFail?: readonly string[];
  /** An organization that requests test events: all of them carry the same example of a record. */
  readonly testEventsOf?: string;
}

const LOST = /^The sender stopped before the outcome was known/;

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly requestId: string;
  readonly data: string;
  /** Organization and application, by name. */
  readonly application: string;
}

interface DeliveryRow {
  readonly id: string;
  readonly webhookId: string;
  readonly url: string;
  readonly eventId: string;
  readonly status: string;
  readonly attempts: number;
  readonly tries: number;
  readonly isLeased: boolean;
}

interface AttemptRow {
  readonly deliveryId: string;
  readonly number: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly status: string;
}

export interface Findings {
  readonly complaints: readonly string[];
  readonly events: number;
  readonly arrivals: number;
  /** Arrivals beyond the first of their event at their endpoint, and attempts with an unknown outcome. */
  readonly extra: number;
  readonly lost: number;
}

export async function auditDeliveries(query: Query, evidence: Evidence): Promise<Findings> {
  const events = (await query(
    `select e.id, e.type, e.resource_id as "resourceId", e.sequence, e.request_id as "requestId", e.data::text as data,
      o.name || ' ' || a.name as application
    from events e join applications a on a.org_id = e.org_id and a.id = e.app_id join organizations o on o.id = e.org_id`,
  )) as unknown as readonly EventRow[];
  const deliveries =
    (await query(`select d.id, d.webhook_id as "webhookId", w.url, d.event_id as "eventId", d.status,
      d.attempts, d.tries, d.lease_until is not null as "isLeased"
    from deliveries d join webhooks w on w.org_id = d.org_id and w.id = d.webhook_id`)) as unknown as readonly DeliveryRow[];
  const attempts =
    (await query(`select delivery_id as "deliveryId", number, response_status as "responseStatus", error,
      status from delivery_attempts order by delivery_id, number`)) as unknown as readonly AttemptRow[];

  const complaints: string[] = [];
  const report = (complaint: string): void => {
    complaints.push(complaint);
  };
  const eventById = new Map(events.map((event) => [event.id, event]));
  for (const arrival of evidence.arrivals) checkArrival(arrival, evidence, eventById, report);
  checkEvents(events, evidence, report);

  const historyOf = groupBy(attempts, ({ deliveryId }) => deliveryId);
  const arrivalsOf = groupBy(evidence.arrivals, (arrival) => `${arrival.endpoint} ${arrival.id}`);
  const nameOf = ({ url }: DeliveryRow): string => new URL(url).pathname.slice(1);
  const deliveriesOf = groupBy(deliveries, (delivery) => `${nameOf(delivery)} ${delivery.eventId}`);
  let lost = 0;
  for (const endpoint of evidence.endpoints) {
    for (const event of events) {
      const pair = `${endpoint.name} ${event.id}`;
      const [delivery, ...more] = deliveriesOf.get(pair) ?? [];
      const arrived = arrivalsOf.get(pair) ?? [];
      if (!wants(endpoint, event)) {
        if (delivery || arrived.length > 0) report(`${pair}: ${event.type} was not subscribed to`);
        continue;
      }
      if (!delivery || more.length > 0) {
        report(`${pair}: ${delivery ? more.length + 1 : 'no'} deliveries`);
        continue;
      }
      const history = historyOf.get(delivery.id) ?? [];
      lost += history.filter(isLost).length;
      const mayFail = evidence.mayFail?.includes(endpoint.name) === true;
      const failedAfter = mayFail ? triesMax[endpoint.retryProfile] : null;
      for (const complaint of checkDelivery(delivery, history, arrived, evidence.kills, failedAfter))
        report(`${pair} (${delivery.id}): ${complaint}`);
    }
  }
  const extra = [...arrivalsOf.values()].reduce((sum, arrived) => sum + arrived.length - 1, 0);
  return { complaints, events: events.length, arrivals: evidence.arrivals.length, extra, lost };
}

/** Every request is signed with the secret of its endpoint and carries an event of the database, byte by byte. */
function checkArrival(
  { endpoint: name, id, body, headers, at }: Arrival,
  { endpoints, refused }: Evidence,
  events: ReadonlyMap<string, EventRow>,
  report: (complaint: string) => void,
): void {
  const endpoint = endpoints.find((one) => one.name === name);
  if (!endpoint) {
    report(`${id} arrived at ${name}, which is not an endpoint`);
    return;
  }
  // Verified as of its arrival: a run can take longer than the five minutes for which a signature is valid.
  const signatures = signaturesOf({ headers, body }, endpoint.secret, performance.timeOrigin + at);
  if (signatures.length !== 1)
    report(`${id} at ${name} has no valid signature: ${String(headers['webhook-signature'])}`);

  const event = events.get(id);
  if (!event) {
    report(`${id} arrived at ${name} and is not among the events`);
    return;
  }
  const sent = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const expected = [event.id, event.type, event.sequence, event.requestId].join(' ');
  if ([sent.id, sent.type, sent.sequence, sent.requestId].join(' ') !== expected || sent.sandbox !== true)
    report(`${id} at ${name} says ${body.slice(0, 200)} where the database has ${expected}`);
  if (!body.endsWith(`,"data":${event.data}}`)) report(`${id} at ${name} carries other data than the event`);
  if (refused.has(event.requestId)) report(`${id} carries ${event.requestId}, which was refused`);
}

/** One event for each acknowledged payment, none for a refused request, and no gap in the sequence of a record. */
function checkEvents(
  events: readonly EventRow[],
  { acknowledged, refused, testEventsOf }: Evidence,
  report: (complaint: string) => void,
): void {
  const created = groupBy(
    events.filter(({ type }) => type === 'payment.created'),
    ({ resourceId }) => resourceId,
  );
  for (const id of acknowledged) {
    const count = created.get(id)?.length ?? 0;
    if (count !== 1) report(`${id} was acknowledged and has ${count} events of its creation`);
  }
  for (const { id, requestId } of events)
    if (refused.has(requestId)) report(`${id} is an event of ${requestId}, which was refused`);
  // Creating and enabling a webhook emits nothing: the events of one that was disabled have gaps by design.
  const gapless = events.filter(
    ({ resourceId, application }) =>
      !resourceId.startsWith('whk_') && !(testEventsOf && application.startsWith(`${testEventsOf} `)),
  );
  for (const [record, recordEvents] of groupBy(gapless, ({ resourceId }) => resourceId)) {
    const numbers = recordEvents.map(({ sequence }) => sequence).sort((a, b) => a - b);
    if (numbers.some((sequence, i) => sequence !== i + 1)) report(`${record} has events ${numbers.join()}`);
  }
}

/** The number of tries of each documented retry profile. */
const triesMax: Readonly<Record<Endpoint['retryProfile'], number>> = { standard: 10, fast: 5, none: 1 };

/** The attempts of a delivery explain every arrival: by a recorded outcome, or by one that was lost. */
function checkDelivery(
  { status, attempts, tries, isLeased }: DeliveryRow,
  history: readonly AttemptRow[],
  arrived: readonly Arrival[],
  kills: number,
  failedAfter: number | null,
): readonly string[] {
  const complaints: string[] = [];
  const lost = history.filter(isLost).length;
  const answered = history.filter(({ responseStatus }) => responseStatus !== null);
  const failed = history.filter(({ error }) => error !== null).length - lost;
  const hasFailed = status === 'failed' && tries === failedAfter;
  // A receiver on a busy machine may see nothing of a request that timed out.
  if (arrived.length === 0 && !(hasFailed && history.every(isTimeout)))
    complaints.push(`never arrived: ${history.map(({ error }) => error ?? 'no error').join(', ')}`);
  if (new Set(arrived.map(({ body }) => body)).size > 1) complaints.push('had different bodies');
  if (status !== 'succeeded' && !hasFailed) complaints.push(`is ${status} after ${tries} tries`);
  if (isLeased) complaints.push('is still leased');
  if (history.some(({ number }, i) => number !== i + 1)) complaints.push('has gaps in its history');
  if (attempts !== history.length) complaints.push(`counts ${attempts} attempts and has ${history.length}`);
  if (tries !== history.length - lost)
    complaints.push(`counts ${tries} tries, of ${history.length} attempts ${lost} lost`);
  const ends = history.filter((attempt) => attempt.status !== 'pending');
  if (ends.length !== 1 || history.at(-1)?.status !== status)
    complaints.push(
      `ended with ${ends.map((attempt) => `${attempt.number} ${attempt.status}`).join() || 'none'}`,
    );
  if (arrived.length - 1 > kills + failed)
    complaints.push(`came ${arrived.length} times, with ${kills} kills and ${failed} failures`);
  // A request that timed out has arrived, and one whose connection broke may have.
  const unanswered = history.length - lost - answered.length;
  if (arrived.length > answered.length + lost + unanswered)
    complaints.push(`came ${arrived.length} times, and its history has ${history.length} attempts`);
  for (const code of new Set(answered.map(({ responseStatus }) => responseStatus))) {
    const recorded = answered.filter(({ responseStatus }) => responseStatus === code).length;
    const given = arrived.filter((arrival) => arrival.answered === code).length;
    if (recorded > given)
      complaints.push(`records ${recorded} responses ${code}, but the receiver sent ${given}`);
  }
  return complaints;
}

function isTimeout({ error }: AttemptRow): boolean {
  return error?.startsWith('Timeout:') === true;
}

function isLost({ error }: AttemptRow): boolean {
  return error !== null && LOST.test(error);
}

function wants({ eventTypes, application }: Endpoint, { type, ...event }: EventRow): boolean {
  if (application !== undefined && application !== event.application) return false;
  return eventTypes.some(
    (filter) =>
      filter === '*' || filter === type || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1))),
  );
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
