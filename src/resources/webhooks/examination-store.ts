import type { Id } from '../../kernel/ids.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';
import { examinationsRetainedMax } from './examination-table.ts';

type Rows = Pick<Reader, 'rows'>;

export interface ExaminationSummary {
  readonly id: string;
  readonly at: Instant;
  readonly status: string;
  readonly grade: string;
  readonly score: number;
  readonly complete: boolean;
}

const newest: Statement = {
  name: 'examinations_newest',
  text: `select e.id, e.at, e.report ->> 'status' as status, e.report ->> 'grade' as grade,
      (e.report ->> 'score')::integer as score, (e.report ->> 'complete')::boolean as complete
    from examinations e where e.org_id = $1 and e.webhook_id = $2
    order by e.org_id desc, e.webhook_id desc, e.id desc limit $3`,
};

/** Newest first. */
export function findExaminations(
  reader: Rows,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
): PromiseLike<readonly ExaminationSummary[]> {
  return reader.rows<ExaminationSummary>(newest, [orgId, webhookId, examinationsRetainedMax]);
}

const one: Statement = {
  name: 'examination_report',
  text: 'select e.report from examinations e where e.org_id = $1 and e.webhook_id = $2 and e.id = $3',
};

export async function findReport(
  reader: Rows,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  id: string,
): Promise<object | undefined> {
  const [found] = await reader.rows<{ readonly report: object }>(one, [orgId, webhookId, id]);
  return found?.report;
}
