import type { IdKind } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { containing } from '../../kernel/list-search.ts';
import type { Reader, SearchedTexts, Statement } from '../../kernel/table.ts';
import { customerTexts } from '../customers/table.ts';
import { paymentTexts } from '../payments/table.ts';
import { transferTexts } from '../transfers/table.ts';

type Rows = Pick<Reader, 'rows'>;

/** The kinds of record that search finds by id. */
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

/** A record as found; `amount` and `currency` are null for records that are not amounts. */
export interface FoundRecord {
  readonly kind: HitKind;
  readonly id: string;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly title: string | null;
  readonly subtitle: string | null;
  readonly status: string;
}

/** The table of a kind, and the SQL expressions for the columns of a search result. */
interface HitColumns {
  readonly table: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly title: string;
  readonly subtitle: string;
  readonly status: string;
}

const status = 't.status';
const amountColumns = { amount: 't.amount', currency: 't.currency' };
const hitColumns: Readonly<Record<Exclude<HitKind, 'request'>, HitColumns>> = {
  payment: {
    table: 'payments',
    ...amountColumns,
    title: 'null',
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
    amount: 't.source_amount',
    currency: 't.source_currency',
    title: `'to ' || t.target_currency`,
    subtitle: 't.reference',
    status,
  },
  refund: { table: 'refunds', ...amountColumns, title: 'null', subtitle: 't.payment_id', status },
  dispute: { table: 'disputes', ...amountColumns, title: 'null', subtitle: 't.payment_id', status },
  webhook: { table: 'webhooks', title: 't.url', subtitle: 't.description', status },
  event: { table: 'events', title: 't.type', subtitle: 't.resource_id', status: `'ok'` },
  delivery: { table: 'deliveries', title: 't.event_type', subtitle: 't.webhook_id', status },
  api_key: { table: 'api_keys', title: 't.name', subtitle: `'…' || t.last_four`, status },
};

const selectHit = (kind: keyof typeof hitColumns, from = hitColumns[kind].table) => {
  const { amount = 'null::bigint', currency = 'null', title, subtitle, status: state } = hitColumns[kind];
  return `select '${kind}' as kind, t.id, ${amount} as amount, ${currency} as currency, ${title} as title,
    nullif(${subtitle}, '') as subtitle, ${state} as status from ${from} t`;
};

const byId = (kind: keyof typeof hitColumns): Statement => ({
  name: `search_${kind}_by_id`,
  text: `${selectHit(kind)} where t.org_id = $1 and t.id = $2`,
});

const requestById: Statement = {
  name: 'search_request_by_id',
  text: `select 'request' as kind, r.id, null::bigint as amount, null as currency, r.method || ' ' || r.path as title, r.error_code as subtitle, 'ok' as status
    from requests r where r.org_id = $1 and r.id = $2`,
};

export function findById(
  reader: Rows,
  orgId: string,
  kind: HitKind,
  id: string,
): PromiseLike<readonly FoundRecord[]> {
  return reader.rows<FoundRecord>(kind === 'request' ? requestById : byId(kind), [orgId, id]);
}

/** Appended to a prefix, sorts after every text with this prefix. */
const rangeEnd = '\u{10ffff}';

/** A prefix is a byte range and therefore an index range; an exact match sorts first in it. */
const byPrefix = (kind: 'payment' | 'transfer' | 'customer', text: string, of: string): Statement => ({
  name: `search_${kind}_by_${of}`,
  text: `${selectHit(kind)} where t.org_id = $1 and ${text} is not null and ${text} ~>=~ $2 and ${text} ~<~ $3
    order by ${text} using ~<~, t.id limit $4`,
});

const references = [
  byPrefix('payment', 't.reference', 'reference'),
  byPrefix('transfer', 't.reference', 'reference'),
  byPrefix('customer', 't.reference', 'reference'),
];

const names = (['email', 'name'] as const).map(
  (column): Statement => ({
    name: `search_customer_by_${column}`,
    text: `${selectHit('customer')} where t.org_id = $1 and t.${column} is not null
      and lower(t.${column}) ~>=~ lower($2) and lower(t.${column}) ~<~ (lower($2) || $3)
      order by lower(t.${column}) using ~<~, t.id limit $4`,
  }),
);

/** Payments, transfers and customers by reference prefix, and customers by e-mail or name prefix. */
export async function findByPrefix(
  reader: Rows,
  orgId: string,
  text: string,
  limit: number,
): Promise<readonly FoundRecord[]> {
  const found = await Promise.all([
    ...references.map((statement) =>
      reader.rows<FoundRecord>(statement, [orgId, text, text + rangeEnd, limit]),
    ),
    ...names.map((statement) => reader.rows<FoundRecord>(statement, [orgId, text, rangeEnd, limit])),
  ]);
  const hits = new Map(found.flat().map((hit) => [hit.id, hit]));
  return [...hits.values()].slice(0, limit);
}

const newestContaining = (kind: 'payment' | 'transfer' | 'customer', { texts }: SearchedTexts): Statement => {
  const newest = `(select * from ${hitColumns[kind].table} where org_id = $1
    order by org_id desc, id desc limit ${limits.rowsSearchedMax})`;
  return {
    name: `search_${kind}_containing`,
    text: `${selectHit(kind, newest)}
      where ${containing(texts, 't', '$2').join(' or ')} order by t.id desc limit $3`,
  };
};

const contents = [
  newestContaining('payment', paymentTexts),
  newestContaining('customer', customerTexts),
  newestContaining('transfer', transferTexts),
];

/** The newest payments, customers and transfers with this text in a reference, description, name or e-mail address. */
export async function findByContent(
  reader: Rows,
  orgId: string,
  text: string,
  limit: number,
): Promise<readonly FoundRecord[]> {
  const found = await Promise.all(
    contents.map((statement) => reader.rows<FoundRecord>(statement, [orgId, text, limit])),
  );
  return found.flat();
}
