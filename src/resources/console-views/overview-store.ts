import { firstIdAt, type Id } from '../../kernel/ids.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';
import type { DeliveryCount, PaymentCount, TimeBase } from './overview-views.ts';

type Rows = Pick<Reader, 'rows'>;
type OrgId = Id<'organization'>;

/** Only the newest records are counted, up to this number, to bound the cost of an overview. */
export const countedMax = 100_000;

/**
 * Ids begin with the real time of their insertion: in real time the primary key bounds the records of a period, and the id alone
 * determines the bucket of a record. $3 contains the lowest id of each bucket, and $4 is the first of them. The time of a record on
 * the application clock has no index, because it would slow down every write: in sandbox time, the newest records are read
 * whatever their time, and $3 contains instants.
 */
const sources: Readonly<Record<TimeBase, { readonly bucket: string; readonly bound: string }>> = {
  real: { bucket: 'width_bucket(t.id, $3::text[])', bound: 'and t.id >= $4' },
  sandbox: { bucket: 'width_bucket(t.created_at, $3::timestamptz[])', bound: '' },
};

const paymentCounts = (time: TimeBase): Statement => ({
  name: `overview_payments_${time}`,
  text: `select ${sources[time].bucket} as bucket, t.currency, t.status, count(*)::integer as count,
      sum(t.amount)::bigint as amount
    from (select t.id, t.created_at, t.currency, t.status, t.amount from payments t where t.org_id = $1 ${sources[time].bound}
      order by t.org_id desc, t.id desc limit $2) t
    group by 1, 2, 3 order by 1, 2, 3`,
});

/**
 * `tries` counts the attempts with an outcome, so they are not read: it leaves out the copies that a fault plan adds and attempts
 * that a crash interrupted.
 */
const deliveryCounts = (time: TimeBase): Statement => ({
  name: `overview_deliveries_${time}`,
  text: `select ${sources[time].bucket} as bucket, t.status, count(*)::integer as count, sum(t.tries)::integer as attempts
    from (select t.id, t.created_at, t.status, t.tries from deliveries t where t.org_id = $1 ${sources[time].bound}
      order by t.org_id desc, t.id desc limit $2) t
    group by 1, 2 order by 1, 2`,
});

const statements = {
  payment: { real: paymentCounts('real'), sandbox: paymentCounts('sandbox') },
  delivery: { real: deliveryCounts('real'), sandbox: deliveryCounts('sandbox') },
} as const;

/** Counts records between the edges of buckets, which are in order. */
async function countRecords<Row extends { readonly at: Instant | null }>(
  reader: Rows,
  kind: keyof typeof statements,
  orgId: OrgId,
  time: TimeBase,
  edges: readonly Instant[],
): Promise<readonly Row[]> {
  const ids = edges.map((edge) => firstIdAt(kind, edge));
  const instants = edges.map((edge) => new Date(edge).toISOString());
  const rows = await reader.rows<Omit<Row, 'at'> & { readonly bucket: number }>(
    statements[kind][time],
    time === 'real' ? [orgId, countedMax, ids, ids[0] ?? ''] : [orgId, countedMax, instants],
  );
  return rows.map(({ bucket, ...row }) => ({ ...row, at: edges[bucket - 1] ?? null }) as unknown as Row);
}

export function countPayments(
  reader: Rows,
  orgId: OrgId,
  time: TimeBase,
  edges: readonly Instant[],
): Promise<readonly PaymentCount[]> {
  return countRecords<PaymentCount>(reader, 'payment', orgId, time, edges);
}

export function countDeliveries(
  reader: Rows,
  orgId: OrgId,
  time: TimeBase,
  edges: readonly Instant[],
): Promise<readonly DeliveryCount[]> {
  return countRecords<DeliveryCount>(reader, 'delivery', orgId, time, edges);
}

const anyRecord: Statement = {
  name: 'overview_any_record',
  text: `select exists (select from payments t where t.org_id = $1) or exists (select from transfers t where t.org_id = $1)
      or exists (select from customers t where t.org_id = $1) as "hasAny"`,
};

/** Whether the organization has a payment, a transfer or a customer. */
export async function hasRecords(reader: Rows, orgId: OrgId): Promise<boolean> {
  const [row] = await reader.rows<{ readonly hasAny: boolean }>(anyRecord, [orgId]);
  return row?.hasAny ?? false;
}
