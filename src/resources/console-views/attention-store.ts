import type { Id } from '../../kernel/ids.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';
import type { WebhookRow } from '../webhooks/table.ts';

type Rows = Pick<Reader, 'rows'>;
type OrgId = Id<'organization'>;

/** The newest rows of each kind are examined, up to this number. */
export const examinedMax = 1_000;
export const shownMax = 5;

export interface FailingWebhook extends Pick<WebhookRow, 'id' | 'appId' | 'url' | 'disabledReason'> {
  readonly status: 'enabled' | 'disabled';
  /** Since when it fails, or when it was disabled, on the application clock. */
  readonly since: Instant;
}

/** Endpoints that the server disabled, then endpoints that fail; an endpoint that a person disabled needs nothing. */
const failingWebhooks: Statement = {
  name: 'attention_webhooks',
  text: `select w.id, w.app_id as "appId", w.url, w.status, w.disabled_reason as "disabledReason",
      case w.status when 'disabled' then w.since else h.failing_since end as since
    from (select w.org_id, w.id, w.app_id, w.url, w.status, w.disabled_reason, w.since from webhooks w
      where w.org_id = $1 order by w.org_id desc, w.id desc limit ${examinedMax}) w
    left join lateral (select h.failing_since from webhook_health h
      where h.org_id = w.org_id and h.webhook_id = w.id offset 0) h on true
    where (w.status = 'disabled' and w.disabled_reason <> 'requested')
      or (w.status = 'enabled' and h.failing_since is not null)
    order by w.status, w.id desc limit ${shownMax + 1}`,
};

export function findFailingWebhooks(reader: Rows, orgId: OrgId): PromiseLike<readonly FailingWebhook[]> {
  return reader.rows<FailingWebhook>(failingWebhooks, [orgId]);
}

export interface DueDispute {
  readonly id: Id<'dispute'>;
  readonly amount: bigint;
  readonly currency: string;
  readonly respondBy: Instant;
  /** The number of disputes that need a response, of those that were examined. */
  readonly count: number;
}

/** Disputes that need a response, the earliest deadline first. */
const dueDisputes: Statement = {
  name: 'attention_disputes',
  text: `select d.id, d.amount, d.currency, d.respond_by as "respondBy", count(*) over ()::integer as count
    from (select d.id, d.amount, d.currency, d.respond_by from disputes d
      where d.org_id = $1 and d.status = 'needs_response'
      order by d.org_id desc, d.status desc, d.id desc limit ${examinedMax}) d
    order by d.respond_by, d.id limit ${shownMax}`,
};

export function findDueDisputes(reader: Rows, orgId: OrgId): PromiseLike<readonly DueDispute[]> {
  return reader.rows<DueDispute>(dueDisputes, [orgId]);
}

const mismatches: Statement = {
  name: 'attention_mismatches',
  text: `select count(*)::integer as count from (
      select l.result from settlement_lines l where l.org_id = $1
      order by l.org_id desc, l.id desc limit ${examinedMax}) l
    where l.result <> 'matched'`,
};

/** Lines of the newest settlement reports that differ from the ledger. */
export async function countMismatches(reader: Rows, orgId: OrgId): Promise<number> {
  const [row] = await reader.rows<{ readonly count: number }>(mismatches, [orgId]);
  return row?.count ?? 0;
}
