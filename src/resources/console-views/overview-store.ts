import { firstIdAt, type IdKind } from '../../kernel/ids.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';

type Rows = Pick<Reader, 'rows'>;

/** Only the newest records are counted, up to this number, to bound the cost of an overview. */
export const countedMax = 100_000;

export interface PaymentCount {
  /** The time bucket of the creation, starting at 1. */
  readonly bucket: number;
  readonly currency: string;
  readonly status: string;
  readonly count: number;
  readonly amount: bigint;
}

export interface DeliveryCount {
  readonly bucket: number;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly count: number;
}

/**
 * Ids begin with the wall time of their creation: the primary key bounds the records of a period, and the id alone
 * determines the bucket of a record. $3 contains the lowest id of each bucket.
 */
const paymentCounts: Statement = {
  name: 'overview_payments',
  text: `select width_bucket(p.id, $3::text[]) as bucket, p.currency, p.status, count(*)::integer as count,
      sum(p.amount)::bigint as amount
    from (select p.id, p.currency, p.status, p.amount from payments p where p.org_id = $1 and p.id >= $2
      order by p.org_id desc, p.id desc limit $4) p
    group by 1, 2, 3 order by 1, 2, 3`,
};

const deliveryCounts: Statement = {
  name: 'overview_deliveries',
  text: `select width_bucket(d.id, $3::text[]) as bucket, d.status, count(*)::integer as count
    from (select d.id, d.status from deliveries d where d.org_id = $1 and d.id >= $2
      order by d.org_id desc, d.id desc limit $4) d
    group by 1, 2 order by 1, 2`,
};

function values(kind: IdKind, orgId: string, starts: readonly Instant[]): readonly unknown[] {
  const ids = starts.map((start) => firstIdAt(kind, start));
  return [orgId, ids[0] ?? '', ids, countedMax];
}

export function countPayments(
  reader: Rows,
  orgId: string,
  starts: readonly Instant[],
): PromiseLike<readonly PaymentCount[]> {
  return reader.rows<PaymentCount>(paymentCounts, values('payment', orgId, starts));
}

export function countDeliveries(
  reader: Rows,
  orgId: string,
  starts: readonly Instant[],
): PromiseLike<readonly DeliveryCount[]> {
  return reader.rows<DeliveryCount>(deliveryCounts, values('delivery', orgId, starts));
}
