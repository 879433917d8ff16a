import type { IdKind } from '../../kernel/ids.ts';
import type { Reader } from '../../kernel/route.ts';
import type { Statement } from '../../kernel/table.ts';

type Rows = Pick<Reader, 'rows'>;

/** What can be found by its id. */
export const hitKinds = [
  'payment',
  'customer',
  'transfer',
  'refund',
  'dispute',
  'webhook',
  'event',
  'delivery',
  'api_key',
  'request',
] as const satisfies readonly IdKind[];

export type HitKind = (typeof hitKinds)[number];

export interface Hit {
  readonly kind: HitKind;
  readonly id: string;
  readonly title: string;
  readonly subtitle: string | null;
  readonly status: string;
}

/** How a record is told in one line: where it is kept, its title, what stands below it, its status. */
interface Shown {
  readonly table: string;
  readonly title: string;
  readonly subtitle: string;
  readonly status: string;
}

const status = 't.status';
const shown: Readonly<Record<Exclude<HitKind, 'request'>, Shown>> = {
  payment: {
    table: 'payments',
    title: `t.amount || ' ' || t.currency`,
    subtitle: `coalesce(t.reference, t.description)`,
    status,
  },
  customer: {
    table: 'customers',
    title: 'coalesce(t.name, t.email)',
    subtitle: `concat_ws(', ', case when t.name is not null then t.email end, t.reference)`,
    status,
  },
  transfer: {
    table: 'transfers',
    title: `t.source_amount || ' ' || t.source_currency || ' to ' || t.target_currency`,
    subtitle: 't.reference',
    status,
  },
  refund: { table: 'refunds', title: `t.amount || ' ' || t.currency`, subtitle: 't.payment_id', status },
  dispute: { table: 'disputes', title: `t.amount || ' ' || t.currency`, subtitle: 't.payment_id', status },
  webhook: { table: 'webhooks', title: 't.url', subtitle: 't.description', status },
  event: { table: 'events', title: 't.type', subtitle: 't.resource_id', status: `'ok'` },
  delivery: { table: 'deliveries', title: 't.event_type', subtitle: 't.webhook_id', status },
  api_key: { table: 'api_keys', title: 't.name', subtitle: `'…' || t.last_four`, status },
};

const selectHit = (kind: keyof typeof shown) => {
  const { table, title, subtitle, status: state } = shown[kind];
  return `select '${kind}' as kind, t.id, ${title} as title, nullif(${subtitle}, '') as subtitle, ${state} as status from ${table} t`;
};

const byId = (kind: keyof typeof shown): Statement => ({
  name: `search_${kind}_by_id`,
  text: `${selectHit(kind)} where t.org_id = $1 and t.id = $2`,
});

const requestById: Statement = {
  name: 'search_request_by_id',
  text: `select 'request' as kind, r.id, r.method || ' ' || r.path as title, r.error_code as subtitle, 'ok' as status
    from requests r where r.org_id = $1 and r.id = $2`,
};

export function findById(
  reader: Rows,
  orgId: string,
  kind: HitKind,
  id: string,
): PromiseLike<readonly Hit[]> {
  return reader.rows<Hit>(kind === 'request' ? requestById : byId(kind), [orgId, id]);
}

/** Behind every text that begins with the one before it. */
const last = '\u{10ffff}';

/** A beginning is a range of bytes, and so of the index; the exact one stands first in it. */
const byBeginning = (kind: 'payment' | 'transfer' | 'customer', text: string, of: string): Statement => ({
  name: `search_${kind}_by_${of}`,
  text: `${selectHit(kind)} where t.org_id = $1 and ${text} is not null and ${text} ~>=~ $2 and ${text} ~<~ $3
    order by ${text} using ~<~, t.id limit $4`,
});

const references = [
  byBeginning('payment', 't.reference', 'reference'),
  byBeginning('transfer', 't.reference', 'reference'),
  byBeginning('customer', 't.reference', 'reference'),
];

const names = (['email', 'name'] as const).map(
  (column): Statement => ({
    name: `search_customer_by_${column}`,
    text: `${selectHit('customer')} where t.org_id = $1 and t.${column} is not null
      and lower(t.${column}) ~>=~ lower($2) and lower(t.${column}) ~<~ (lower($2) || $3)
      order by lower(t.${column}) using ~<~, t.id limit $4`,
  }),
);

/** Payments, transfers and customers by how their reference begins, and customers by e-mail and name. */
export async function findByBeginning(
  reader: Rows,
  orgId: string,
  text: string,
  limit: number,
): Promise<readonly Hit[]> {
  const found = await Promise.all([
    ...references.map((statement) => reader.rows<Hit>(statement, [orgId, text, text + last, limit])),
    ...names.map((statement) => reader.rows<Hit>(statement, [orgId, text, last, limit])),
  ]);
  const hits = new Map(found.flat().map((hit) => [hit.id, hit]));
  return [...hits.values()].slice(0, limit);
}
